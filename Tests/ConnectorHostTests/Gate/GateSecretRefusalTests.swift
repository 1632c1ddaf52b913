// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
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

/// A gate whose vendor refuses a secret reads its secrets again, and tries the next one.
@Suite(.timeLimit(.minutes(10))) struct GateSecretRefusalTests {
    @Test func `a vendor that refuses every call does not make the secrets be read with each of them`() async throws {
        let vendor = KeyVendor()
        let server = vendor.server()
        defer { server.stop() }
        let test = try KeyHost(server, key: ["secret": "env:OLD"])
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
        func refuse(_ count: Int) async throws {
            for _ in 0..<count {
                gate.renewAfterRefusal()
                while gate.storage.withLock({ $0.isRenewing }) { try await Task.checkedYield() }
            }
        }
        try await refuse(100)
        #expect(readings.load(ordering: .relaxed) == 1)
        for (second, count) in [(1, 2), (1, 2), (1, 3), (3, 3), (1, 4)] {
            test.clock.advance(by: .seconds(second))
            try await refuse(100)
            #expect(readings.load(ordering: .relaxed) == count)
        }
        // After a while without a refusal, the secrets are read at once again, and the next wait is a second.
        test.clock.advance(by: .seconds(20))
        try await refuse(1)
        test.clock.advance(by: .seconds(1))
        try await refuse(1)
        #expect(readings.load(ordering: .relaxed) == 6)
        #expect(vendor.last == "key-6")
        await test.host.close()
    }

    @Test func `an exclusive plugin keeps its key until the vendor refuses it, and closes before the next one`()
        async throws
    {
        try await Fixtures.withDirectory { directory in
            let vendor = KeyVendor()
            vendor.accept("first")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try Fixtures.writeSecret("first", to: file)
            let test = try KeyHost(server, key: ["secret": .string("file:\(file)")], plugin: ExclusiveKeyPlugin.self)
            #expect(await test.host.open().isReady)
            try Fixtures.writeSecret("second", to: file)
            while try test.secret().isInUse { try await test.proof() }
            #expect(try await test.ask() == "accepted")
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
            await #expect(throws: ConnectorError.self) { try await test.ask() }
            while (try? await test.ask()) != "accepted" { try await Task.checkedYield() }
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
            let vendor = KeyVendor()
            vendor.accept("old")
            let server = vendor.server()
            defer { server.stop() }
            let file = "\(directory)/key"
            try Fixtures.writeSecret("new", to: file)
            let test = try KeyHost(server, key: ["secret": [.string("file:\(file)"), "env:OLD"]])
            #expect(await test.host.open().isReady)
            #expect(vendor.seen == ["new", "old"])
            #expect(try await test.ask() == "accepted")
            vendor.accept("new", "old")
            while vendor.last != "new" { try await test.proof() }
            _ = await test.host.report { $0["gate"]?.secrets.first?.isInUse == true }
            vendor.accept("new")
            #expect(try await test.ask() == "accepted")
            // The new one is withdrawn: back to the old one, after one refused call.
            vendor.accept("old")
            await #expect(throws: ConnectorError.self) { try await test.ask() }
            while (try? await test.ask()) != "accepted" { try await Task.checkedYield() }
            #expect(vendor.last == "old")
            await test.host.close()
        }
    }

    @Test func `a key of the application's own provider is asked for again once the vendor refuses it`() async throws {
        let vendor = KeyVendor()
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
        while (try? await gate.call("ask")) != "accepted" { try await Task.checkedYield() }
        #expect(vendor.last == "second")
        await host.close()
    }

    @Test func `a missing source is skipped`() async throws {
        let vendor = KeyVendor()
        let server = vendor.server()
        defer { server.stop() }
        let test = try KeyHost(server, key: ["secret": ["file:/absent/key", "env:NOPE", "env:OLD"]])
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
            try await Task.checkedYield()
        }
        close(unsafe open(pipe, O_WRONLY | O_CLOEXEC))
        #expect(await opening["gate"]?.state == .open)
        await host.close()
    }

    @Test func `secrets that are being read while a reload switches do not bring the earlier configuration back`()
        async throws
    {
        let vendor = KeyVendor()
        let server = vendor.server()
        defer { server.stop() }
        let test = try KeyHost(server, key: ["secret": "env:OLD"])
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
        while gate.storage.withLock({ $0.isRenewing }) { try await Task.checkedYield() }
        #expect(gate.lastConfiguration == next)
        #expect(gate.storage.withLock { $0.current?.configuration } == next)
        #expect(vendor.seen == ["old", "next"])
        await test.host.close()
    }
}
