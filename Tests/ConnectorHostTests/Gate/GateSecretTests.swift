// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A gate exchanges its secrets while it is open: on the vendor's word, as one snapshot, and without a failed call.
@Suite(.timeLimit(.minutes(30))) struct GateSecretTests {
    /// What the vendor has seen, and which keys it accepts.
    private final class Vendor: Sendable {
        struct State {
            var accepted: Set<String> = []
            var unchecked: Set<String> = []
            var seen: [String] = []
            var mixed: [String] = []
            var failures: [String] = []
        }

        let state = Mutex(State())
        /// Whether callers may stop.
        let isDone = Atomic(false)
        /// Called with each key that the vendor sees.
        let onKey = Mutex<(@Sendable (String) -> Void)?>(nil)

        func accept(_ keys: String...) { state.withLock { $0.accepted = Set(keys) } }
        /// Lets a proxy answer in the vendor's place what is asked with these keys.
        func leaveUnchecked(_ keys: String...) { state.withLock { $0.unchecked = Set(keys) } }
        var seen: [String] { state.withLock(\.seen) }
        func fail(_ error: String) { state.withLock { $0.failures.append(error) } }
        var failures: [String] { state.withLock(\.failures) }
        var last: String? { state.withLock { $0.seen.last } }

        /// The vendor's server.
        func server() -> LoopbackServer {
            LoopbackServer { request in
                let key = request.fields["x-key"] ?? ""
                let certificate = request.fields["x-certificate"] ?? ""
                self.onKey.withLock(\.self)?(key)
                return self.state.withLock { state in
                    state.seen.append(key)
                    if !certificate.isEmpty, certificate != key { state.mixed.append("\(key) \(certificate)") }
                    if state.unchecked.contains(key) { return .response(203) }
                    return .response(state.accepted.isEmpty || state.accepted.contains(key) ? 200 : 401)
                }
            }
        }
    }

    private static let interval = Duration.seconds(60)

    /// How often keys rotate under load; `make torture` does it ten thousand times.
    private static var rotationCount: Int {
        unsafe getenv("CONNECTOR_TORTURE_ROTATIONS").flatMap { unsafe Int(String(cString: $0)) } ?? 30
    }

    private func host(
        _ server: LoopbackServer,
        key: JSONValue,
        plugin: any LinkablePlugin.Type = KeyPlugin.self,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) throws -> TestHostClock {
        let config: JSONObject = ["endpoint": .string(server.url()), "key": key]
        let clock = ManualHostClock()
        let leaf = Connector("gate", plugin: plugin, config: config, probeInterval: Self.interval)
        let host = try ConnectorHost.testing(
            "[]",
            appending: [leaf],
            environment: ["OLD": "old"],
            clock: clock,
            logger: logger
        )
        return TestHostClock(host: host, clock: clock)
    }

    private func write(_ text: String, to file: String) throws {
        try Fixtures.write(Array(text.utf8), to: file)
        #expect(Fixtures.run("chmod 600 '\(file)'") == 0)
    }

    private func ask(_ test: TestHostClock) async throws -> JSONValue { try await test.host.gate("gate").call("ask") }

    private struct TestHostClock {
        var host: ConnectorHost
        var clock: ManualHostClock

        /// Lets the next scheduled proof happen, and what follows from it.
        func proof() async {
            await clock.timers(atLeast: 1)
            let before = host.report["gate"]?.evidence.last?.at
            clock.advance(by: GateSecretTests.interval)
            _ = await host.report { $0["gate"]?.evidence.last?.at != before || $0["gate"]?.state != .open }
            let gate = host.current.tree["gate"]?.gate
            while gate?.storage.withLock({ $0.isRenewing }) ?? false { await Task.yield() }
        }

        func secret() throws -> SecretReport { try #require(host.report["gate"]?.secrets.first) }
    }

    @Test func `a key that is replaced in its file takes over at the next proof, without a refused call`() async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = Vendor()
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try write("first", to: file)
            let test = try host(server, key: ["secret": .string("file:\(file)")])
            #expect(await test.host.open().isReady)
            #expect(vendor.last == "first")
            #expect(try test.secret().isInUse)
            try write("second", to: file)
            while vendor.last != "second" { await test.proof() }
            _ = await test.host.report { $0["gate"]?.secrets.first?.isProved == true }
            #expect(try await ask(test) == "accepted")
            #expect(vendor.last == "second")
            #expect(test.host.report["gate"]?.state == .open)
            await test.host.close()
        }
    }

    @Test func `the old key works until the vendor accepts the new one, and the report says which is in use`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = Vendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try write("first", to: file)
            let test = try host(server, key: ["secret": .string("file:\(file)")])
            #expect(await test.host.open().isReady)
            try write("second", to: file)
            while !vendor.seen.contains("second") { await test.proof() }
            #expect(try await ask(test) == "accepted")
            #expect(vendor.last == "first")
            #expect(try !test.secret().isInUse)
            #expect(try !test.secret().isProved)
            #expect(
                test.host.prometheusText.contains(
                    "connector_secret_in_use{connector_path=\"gate\",connector_secret=\"key\"} 0"
                )
            )
            vendor.accept("first", "second")
            while vendor.last != "second" { await test.proof() }
            _ = await test.host.report { $0["gate"]?.secrets.first?.isInUse == true }
            vendor.accept("second")
            #expect(try await ask(test) == "accepted")
            #expect(try test.secret().isProved)
            await test.host.close()
        }
    }

    @Test func `a key that proves less than the old one ever did takes over only once the vendor accepts it`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let log = InMemoryLogHandler()
            func refusals() -> Int {
                log.entries.count(where: { entry in
                    entry.message == "new secrets do not work"
                        && entry.metadata["error"]?.description.contains("proves only that it is reachable") == true
                })
            }
            let vendor = Vendor()
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try write("first", to: file)
            let logger = Logger(label: "test") { _ in log }
            let test = try host(server, key: ["secret": .string("file:\(file)")], logger: logger)
            #expect(await test.host.open().isReady)
            vendor.leaveUnchecked("second")
            try write("second", to: file)
            while refusals() == 0 { await test.proof() }
            // No reload: the gate has the plan already, and reads its secrets when it opens.
            let refusal = log.entries.first { $0.message == "new secrets do not work" }?.metadata["error"]?.description
            #expect(refusal?.contains("to accept the weaker proof, close the gate and open it again") == true)
            // The proxy answers everybody: the current instance proves no more than the new one would.
            vendor.leaveUnchecked("first", "second")
            while test.host.report["gate"]?.strongestEvidence?.kind != .reachable { await test.proof() }
            let count = refusals()
            while refusals() == count { await test.proof() }
            #expect(test.host.report["gate"]?.generation == 1)
            #expect(try !test.secret().isInUse)
            vendor.leaveUnchecked()
            while test.host.report["gate"]?.generation == 1 { await test.proof() }
            #expect(try await ask(test) == "accepted")
            #expect(vendor.last == "second")
            #expect(try test.secret().isProved)
            await test.host.close()
        }
    }

    @Test func `a key that proves less takes over if a proof with the old one is refused, and not if a call is`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = Vendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try write("first", to: file)
            let test = try host(server, key: ["secret": .string("file:\(file)")])
            #expect(await test.host.open().isReady)
            let gate = try #require(test.host.current.tree["gate"]?.gate)
            func trials() -> Int { vendor.seen.count(where: { $0 == "second" }) }
            func tried(after count: Int) async {
                while trials() == count || gate.storage.withLock({ $0.isRenewing }) { await Task.yield() }
            }
            vendor.accept("third")
            vendor.leaveUnchecked("second")
            try write("second", to: file)
            await #expect(throws: ConnectorError.self) { try await ask(test) }
            await tried(after: 0)
            #expect(test.host.report["gate"]?.generation == 1)
            let count = trials()
            await test.proof()
            await tried(after: count)
            let report = try #require(test.host.report["gate"])
            #expect(report.generation == 2 && report.state == .open)
            #expect(report.strongestEvidence?.kind == .reachable)
            #expect(try test.secret().isInUse)
            await test.host.close()
        }
    }

    @Test func `a key that cannot be read again is told, counts as not in use, and explains a refusal of the old one`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let log = InMemoryLogHandler()
            func lines(_ message: String) -> Int { log.entries.count(where: { "\($0.message)" == message }) }
            let vendor = Vendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try write("first", to: file)
            let logger = Logger(label: "test") { _ in log }
            let test = try host(server, key: ["secret": .string("file:\(file)")], logger: logger)
            #expect(await test.host.open().isReady)
            let read = try test.secret()
            #expect(read.isInUse && read.isProved && read.error == nil)
            try write("second", to: file)
            #expect(Fixtures.run("chmod 644 '\(file)'") == 0)
            while lines("secrets cannot be read") == 0 { await test.proof() }
            let warned = try #require(test.host.report["gate"])
            #expect(warned.state == .open && warned.strongestEvidence?.kind == .authenticated)
            #expect(warned.warnings.contains { $0.contains("secrets cannot be read") && $0.contains("mode 644") })
            let unread = try #require(warned.secrets.first)
            #expect(!unread.isInUse && !unread.isProved && unread.error?.contains("mode 644") == true)
            // Once, however often it is tried.
            for _ in 0..<3 { await test.proof() }
            #expect(lines("secrets cannot be read") == 1)
            vendor.accept("second")
            await test.proof()
            let refused = await test.host.report { $0["gate"]?.error != nil }
            let error = try #require(refused["gate"]?.error)
            #expect(error.code == .unauthorized)
            #expect(error.cause?.contains("mode 644") == true && error.fix?.contains("chmod 600") == true)
            #expect(Fixtures.run("chmod 600 '\(file)'") == 0)
            while (try? await ask(test)) != "accepted" { await test.proof() }
            let report = await test.host.report { report in
                report["gate"]?.state == .open && report["gate"]?.secrets.first?.isProved == true
            }
            #expect(report["gate"]?.secrets.first?.error == nil)
            #expect(report["gate"]?.warnings.contains { $0.contains("cannot be read") } == false)
            #expect(lines("secrets can be read again") == 1)
            await test.host.close()
        }
    }

    @Test func `a vendor that refuses every call does not make the secrets be read with each of them`() async throws {
        let vendor = Vendor()
        let server = vendor.server()
        defer { server.stop() }
        let test = try host(server, key: ["secret": "env:OLD"])
        #expect(await test.host.open().isReady)
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        // Another key each time, as a program prints that logs in.
        let readings = Atomic(0)
        let configuration = gate.plan.configuration
        gate.planned.withLock { plan in
            plan.renewed = { _ in
                let number = readings.add(1, ordering: .relaxed).newValue
                var next = configuration
                next.secrets = next.secrets.mapValues { _ in Secret("key-\(number)") }
                return RenewedSecrets([next])
            }
        }
        func refuse(_ count: Int) async {
            for _ in 0..<count {
                gate.renewAfterRefusal()
                while gate.storage.withLock({ $0.isRenewing }) { await Task.yield() }
            }
        }
        await refuse(100)
        #expect(readings.load(ordering: .relaxed) == 1)
        for (second, count) in [(1, 2), (1, 2), (1, 3), (3, 3), (1, 4)] {
            test.clock.advance(by: .seconds(second))
            await refuse(100)
            #expect(readings.load(ordering: .relaxed) == count)
        }
        // After a while without a refusal, the secrets are read at once again, and the next wait is a second.
        test.clock.advance(by: .seconds(20))
        await refuse(1)
        test.clock.advance(by: .seconds(1))
        await refuse(1)
        #expect(readings.load(ordering: .relaxed) == 6)
        #expect(vendor.last == "key-6")
        await test.host.close()
    }

    @Test func `an exclusive plugin keeps its key until the vendor refuses it, and closes before the next one`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = Vendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try write("first", to: file)
            let test = try host(server, key: ["secret": .string("file:\(file)")], plugin: ExclusiveKeyPlugin.self)
            #expect(await test.host.open().isReady)
            try write("second", to: file)
            while try test.secret().isInUse { await test.proof() }
            #expect(try await ask(test) == "accepted")
            #expect(!vendor.seen.contains("second"))
            let states = Mutex<[GateState?]>([])
            let host = test.host
            vendor.onKey.withLock {
                $0 = { key in
                    guard key == "second" else { return }
                    let state = host.report["gate"]?.state
                    states.withLock { $0.append(state) }
                }
            }
            vendor.accept("second")
            await #expect(throws: ConnectorError.self) { try await ask(test) }
            while (try? await ask(test)) != "accepted" { await Task.yield() }
            vendor.onKey.withLock { $0 = nil }
            #expect(vendor.last == "second")
            #expect(try test.secret().isInUse)
            // With an instance open beside it, the gate would have been open.
            #expect(states.withLock(\.first) == .opening)
            await test.host.close()
        }
    }

    @Test func `if the vendor refuses a key, that of the next source is used, and the first again once it works`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = Vendor()
            vendor.accept("old")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try write("new", to: file)
            let test = try host(server, key: ["secret": [.string("file:\(file)"), "env:OLD"]])
            #expect(await test.host.open().isReady)
            #expect(vendor.seen == ["new", "old"])
            #expect(try await ask(test) == "accepted")
            vendor.accept("new", "old")
            while vendor.last != "new" { await test.proof() }
            _ = await test.host.report { $0["gate"]?.secrets.first?.isInUse == true }
            vendor.accept("new")
            #expect(try await ask(test) == "accepted")
            // The new one is withdrawn: back to the old one, after one refused call.
            vendor.accept("old")
            await #expect(throws: ConnectorError.self) { try await ask(test) }
            while (try? await ask(test)) != "accepted" { await Task.yield() }
            #expect(vendor.last == "old")
            await test.host.close()
        }
    }

    @Test func `a key of the application's own provider is asked for again once the vendor refuses it`() async throws {
        let vendor = Vendor()
        vendor.accept("first")
        let server = vendor.server()
        defer { server.stop() }
        let keys = Journal<String>()
        keys.note("first")
        let config: JSONObject = ["endpoint": .string(server.url()), "key": ["secret": "env:KEY"]]
        var options = ConnectorHost.Options(
            environment: Configuration.Environment { name in name == "KEY" ? keys.values.last : nil },
            pluginDirectories: [],
            clock: ManualHostClock()
        )
        options.outbox = .memory
        let host = try ConnectorHost(
            Configuration(connectors: [Connector("gate", plugin: KeyPlugin.self, config: config)]),
            options: options
        )
        #expect(await host.open().isReady)
        #expect(vendor.last == "first")
        keys.note("second")
        vendor.accept("second")
        let gate = try host.gate("gate")
        let refused = try await failure { () throws(ConnectorError) in try await gate.call("ask") }
        #expect(refused.code == .unauthorized)
        while (try? await gate.call("ask")) != "accepted" { await Task.yield() }
        #expect(vendor.last == "second")
        await host.close()
    }

    @Test func `a missing source is skipped`() async throws {
        let vendor = Vendor()
        let server = vendor.server()
        defer { server.stop() }
        let test = try host(server, key: ["secret": ["file:/absent/key", "env:NOPE", "env:OLD"]])
        #expect(await test.host.open().isReady)
        #expect(vendor.last == "old")
        #expect(try test.secret().source == "env:OLD")
        await test.host.close()
    }

    @Test func `a plugin that is refused may return from its function later, before the next key`() async throws {
        let workspace = ImageWorkspace()
        let pipe = "\(workspace.directory.path)/pipe"
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        workspace.configure(settings: #", "config": {"key": {"secret": ["env:NEW", "env:OLD"]}}"#)
        try workspace.install(
            .init(
                manifest: #", "configuration": {"key": {"type": "string", "required": true, "secret": true}}"#,
                code: """
                    static int32_t open_second(void *instance, const connector_call *call, connector_error *error) {
                        static int count;
                        const fixture *self = instance;
                        connector_error refusal = {.struct_size = sizeof refusal, .code = CONNECTOR_UNAUTHORIZED};
                        if (count++ > 0) return fixture_open(instance, call, error);
                        self->host->complete(self->host->context, call->operation, refusal.code, NULL, 0, &refusal);
                        close(open("\(pipe)", O_RDONLY | O_CLOEXEC));
                        return CONNECTOR_OK;
                    }
                    """,
                open: "open_second"
            )
        )
        let clock = ManualHostClock()
        let options = ConnectorHost.Options(
            environment: .init(["NEW": "new", "OLD": "old"]),
            pluginDirectories: [],
            clock: clock,
            stateDirectory: "\(workspace.directory.path)/state"
        )
        let host = try ConnectorHost(file: "\(workspace.directory.path)/connectors.json", options: options)
        async let opening = host.open()
        // The host waits for the function, but not for long.
        while !clock.hasTimer(dueAfter: .milliseconds(250)), host.report["gate"]?.state != .failed {
            await Task.yield()
        }
        close(unsafe open(pipe, O_WRONLY | O_CLOEXEC))
        #expect(await opening["gate"]?.state == .open)
        await host.close()
    }

    @Test func `keys and certificates that rotate together under load never mix, and no call fails`() async throws {
        try await Fixtures.withDirectory { directory in
            let vendor = Vendor()
            let server = vendor.server()
            defer { server.stop() }
            let rotation = try SecretRotation(directory)
            let config: JSONObject = [
                "endpoint": .string(server.url()), "key": ["secret": .string("file:\(directory)/current/key")],
                "certificate": ["secret": .string("file:\(directory)/current/certificate")],
            ]
            let leaf = Connector("gate", plugin: KeyPlugin.self, config: config, probeInterval: .milliseconds(2))
            let host = try ConnectorHost.testing("[]", appending: [leaf], clock: SystemHostClock())
            #expect(await host.open().isReady)
            await withTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !vendor.isDone.load(ordering: .relaxed) {
                            do {
                                _ = try await host.gate("gate").call("ask")
                            } catch {
                                vendor.fail("\(error)")
                            }
                        }
                    }
                }
                // The loop ends at the first failure, too.
                var number = 0
                while number < Self.rotationCount, vendor.failures.isEmpty {
                    number += 1
                    guard (try? rotation.rotate()) != nil else { break }
                    while vendor.last != "secret-\(rotation.rotations)", vendor.failures.isEmpty { await Task.yield() }
                }
                vendor.isDone.store(true, ordering: .relaxed)
            }
            #expect(vendor.failures == [])
            #expect(vendor.state.withLock(\.mixed) == [])
            await host.close()
        }
    }

    @Test func `secrets that are being read while a reload switches do not bring the earlier configuration back`()
        async throws
    {
        let vendor = Vendor()
        let server = vendor.server()
        defer { server.stop() }
        let test = try host(server, key: ["secret": "env:OLD"])
        #expect(await test.host.open().isReady)
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        var (next, rotated) = (gate.plan.configuration, gate.plan.configuration)
        next.secrets = next.secrets.mapValues { _ in Secret("next") }
        rotated.secrets = rotated.secrets.mapValues { _ in Secret("rotated") }
        let successor = try await gate.openSuccessor(gate.plan.with(next), by: .max).get()
        gate.planned.withLock { plan in
            plan.renewed = { [rotated] _ in
                gate.switchOver(to: successor)
                return RenewedSecrets([rotated])
            }
        }
        gate.renewAfterRefusal()
        while gate.storage.withLock({ $0.isRenewing }) { await Task.yield() }
        #expect(gate.lastConfiguration == next)
        #expect(gate.storage.withLock { $0.current?.configuration } == next)
        #expect(vendor.seen == ["old", "next"])
        await test.host.close()
    }
}
