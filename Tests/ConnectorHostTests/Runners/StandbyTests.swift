// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConfiguration
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#endif

/// A second instance, open in a runner of its own: when the first one's runner ends, only the calls in flight fail.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
)
struct StandbyTests {
    private static let settings =
        #""isolation": "process", "standby": true, "sandbox": "off", "heal": {"initial": "1s", "max": "30s"}"#

    private static func leaf(
        _ name: String = "gate",
        _ config: JSONObject = [:],
        settings: String = settings,
        probe: String = "off"
    ) -> String {
        TestHost.leaf(name, plugin: "crashes", config, settings: #"\#(settings), "probe": "\#(probe)""#)
    }

    private func opened(_ leaves: String...) async throws -> TestHost {
        let test = try await TestHost.opened(leaves.isEmpty ? Self.leaf() : leaves.joined(separator: ","))
        try await ready(test)
        return test
    }

    /// Waits until a standby waits. The clock moves while the next attempt waits for it, and stands still otherwise, however long a
    /// runner takes to start.
    private func ready(_ test: TestHost, _ path: String = "gate", step: Duration = .seconds(1)) async throws {
        while try test.gate(path).standby?.state != .ready {
            if try test.gate(path).standby?.state == .missing, test.clock.timerCount > 0 {
                test.clock.advance(by: step)
            }
            try await Task.checkedYield()
        }
    }

    private func crash(
        _ test: TestHost,
        _ how: JSONValue = "kill",
        operation: String = "crash",
        options: CallOptions = CallOptions()
    ) async throws -> ConnectorError {
        try await failure { () throws(ConnectorError) in
            try await test.call("gate", operation, ["how": how], options: options)
        }
    }

    /// Waits until a process has ended and is reaped.
    private func ends(_ process: Int64?) async throws {
        let process = pid_t(try #require(process))
        while kill(process, 0) == 0 { try await Task.checkedYield() }
    }

    @Test func `a crash costs only the calls in flight, again and again`() async throws {
        let test = try await opened()
        for round in 1...12 {
            let before = try await test.call("gate", "process")
            let standby = try #require(try test.gate("gate").standby?.process)
            // In flight: the plugin has been told of it.
            let progress = Journal<JSONValue>()
            async let silent = crash(
                test,
                "pending",
                operation: "begin",
                options: CallOptions(onProgress: { progress.note($0) })
            )
            while progress.values.isEmpty { try await Task.checkedYield() }
            let own = try await crash(test, "null")
            // The first call after that: nothing is waited for, and no time passes.
            #expect(try await test.call("gate", "process").integer == standby)
            #expect(standby != before.integer)
            let pending = try await silent
            #expect(own.code == .crashed && pending.code == .crashed, "\(own) \(pending)")
            let report = try test.gate("gate")
            #expect(report.state == .open && report.generation == UInt64(round) + 1 && report.crashCount == round)
            #expect(report.standby?.takeovers == UInt64(round))
            // Fewer than five a minute.
            try await ready(test, step: .seconds(20))
        }
        await test.host.close()
    }

    @Test func `the report tells a standby apart, and both runners end with the gate`() async throws {
        let test = try await opened()
        let report = test.host.report
        let (gate, runners) = (try #require(report["gate"]), report.runners)
        #expect(runners.map(\.connectors).sorted { $0.count < $1.count } == [[], ["gate"]])
        #expect(runners.first { $0.standbys == ["gate"] }?.process == gate.standby?.process)
        #expect(gate.standby?.state == .ready && gate.standby?.takeovers == 0 && gate.standby?.error == nil)
        let read = try #require(Report(json: report.json))
        #expect(read["gate"]?.standby?.process == gate.standby?.process)
        #expect(read.runners.map(\.standbys) == runners.map(\.standbys))
        try await test.host.close("gate")
        #expect(try test.gate("gate").standby?.state == .missing)
        for runner in runners { try await ends(runner.process) }
        try await test.host.open("gate")
        try await ready(test)
        await test.host.close()
        #expect(test.host.dependencies.runners.runners.isEmpty)
    }

    @Test func `a standby that is lost is replaced, and the gate is not affected`() async throws {
        let test = try await opened()
        let before = try await test.call("gate", "process")
        let standby = try #require(try test.gate("gate").standby?.process)
        kill(pid_t(standby), SIGKILL)
        while try test.gate("gate").standby?.state != .missing { try await Task.checkedYield() }
        #expect(try #require(try test.gate("gate").standby?.error).code == .crashed)
        try await ready(test)
        let report = try test.gate("gate")
        #expect(report.standby?.process != standby && report.standby?.error == nil)
        #expect(report.generation == 1 && report.crashCount == 0 && report.standby?.takeovers == 0)
        #expect(try await test.call("gate", "process") == before)
        await test.host.close()
    }

    @Test func `without a standby that is ready a crash fails the gate, which heals`() async throws {
        let test = try await opened()
        _ = try await crash(test)
        _ = try await crash(test)
        #expect(try test.gate("gate").state == .failed)
        while test.state("gate") != .open {
            if let next = try test.gate("gate").nextAttemptAt, next > test.clock.wallTime() {
                test.clock.advance(by: .seconds(1))
            }
            try await Task.checkedYield()
        }
        try await ready(test)
        #expect(try test.gate("gate").standby?.takeovers == 1)
        await test.host.close()
    }

    @Test func `a standby that does not open is tried again ever less often, and says why`() async throws {
        let waits = Journal<UInt64>()
        let test = try TestHost(Self.leaf()) { wait in
            waits.note(wait)
            return wait
        }
        #expect(await test.host.open().isReady)
        try await ready(test)
        try await test.call("gate", "store", ["key": "refuses", "value": "the vendor is away"])
        _ = try await crash(test)
        let error = try await failing(test)
        #expect(error.message == "the vendor is away")
        // The bound of each wait is half of the time without a standby, and no less than the first wait.
        while waits.values.count < 10 {
            if try test.gate("gate").standby?.state == .missing { test.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        #expect(waits.values == waits.values.sorted())
        #expect(waits.values.first == 1_000_000_000 && waits.values.last ?? 0 > 2_000_000_000, "\(waits.values)")
        #expect(try test.gate("gate").state == .open)
        try await test.call("gate", "store", ["key": "refuses", "value": ""])
        try await ready(test)
        await test.host.close()
    }

    /// Waits until an attempt to open a standby has failed.
    private func failing(_ test: TestHost) async throws -> ConnectorError {
        while true {
            if let standby = try test.gate("gate").standby, standby.state == .missing, let error = standby.error,
                error.code != .crashed
            {
                return error
            }
            if try test.gate("gate").standby?.state == .missing { test.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
    }

    @Test func `five crashes within a minute make the next standby wait, and the calls come one by one`() async throws {
        let test = try await opened()
        for round in 1...5 {
            #expect(try await crash(test).code == .crashed)
            #expect(try test.gate("gate").state == .open)
            if round < 5 {
                _ = try await test.call("gate", "process")
                try await ready(test)
            }
        }
        let report = try test.gate("gate")
        #expect(report.standby?.error?.message.hasPrefix("5 runners have ended in quick succession") == true)
        #expect(report.breaker?.state == .halfOpen)
        _ = try await test.call("gate", "process")
        #expect(try test.gate("gate").breaker?.state == .closed)
        let time = test.clock.now()
        try await ready(test)
        #expect(test.clock.now() - time >= 30_000_000_000)
        await test.host.close()
    }

    @Test func `a standby is proved together with the gate`() async throws {
        let test = try await opened(Self.leaf(probe: "30s"))
        let opened = try #require(try test.gate("gate").strongestEvidence?.at)
        let gate = try #require(try test.host.target("gate").node.gate)
        test.clock.advance(by: .seconds(30))
        while try test.gate("gate").strongestEvidence?.at == opened { try await Task.checkedYield() }
        let proved = try #require(try test.gate("gate").strongestEvidence?.at)
        while gate.storage.withLock({ $0.standby.ready?.evidence.last?.at }) != proved { try await Task.checkedYield() }
        test.clock.advance(by: .seconds(10))
        _ = try await crash(test)
        #expect(try test.gate("gate").strongestEvidence?.at == proved)
        await test.host.close()
    }

    @Test func `a standby that cannot be proved is replaced`() async throws {
        let test = try await opened(Self.leaf(probe: "30s"))
        let process = try await test.call("gate", "process")
        let standby = try #require(try test.gate("gate").standby?.process)
        kill(pid_t(standby), SIGSTOP)
        let opened = try #require(try test.gate("gate").strongestEvidence?.at)
        test.clock.advance(by: .seconds(30))
        // Time that a test moves while the gate's own runner proves it would be no reason to think that it hangs.
        while try test.gate("gate").strongestEvidence?.at == opened { try await Task.checkedYield() }
        // The proof of a process that is stopped ends by its deadline.
        await test.clock.advance(toTimerAfter: Connector.defaultTimeout)
        while try test.gate("gate").standby?.process == standby {
            test.clock.advance(by: .seconds(1))
            #expect(try await test.call("gate", "process") == process)
        }
        kill(pid_t(standby), SIGCONT)
        try await ready(test)
        #expect(try await test.call("gate", "process") == process)
        #expect(try test.gate("gate").generation == 1)
        await test.host.close()
    }

    @Test func `a reload that changes the plugin's configuration replaces the standby, too`() async throws {
        let test = try await opened()
        let gate = try #require(try test.host.target("gate").node.gate)
        func waiting() -> Generation? { gate.storage.withLock { $0.standby.ready?.generation } }
        let before = try #require(waiting())
        let reload = try await test.reload(Self.leaf("gate", ["opens": "well"]))
        #expect(reload.isActive, "\(reload.errors)")
        while waiting() == nil || waiting() === before {
            if try test.gate("gate").standby?.state == .missing { test.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        let after = try #require(try test.gate("gate").standby?.process)
        _ = try await crash(test)
        #expect(try await test.call("gate", "process").integer == after)
        #expect(try test.gate("gate").generation == 3)
        await test.host.close()
    }

    @Test func `a successor that crashes takes the standby along, and not the instance that serves`() async throws {
        let settings = Self.settings + #", "retry": {"attempts": 1}"#
        let test = try await opened(Self.leaf(settings: settings))
        let process = try await test.call("gate", "process")
        let reload = try await test.reload(Self.leaf("gate", ["opens": "abort"], settings: settings))
        #expect(reload.phase == .open, "\(reload.errors)")
        try await ready(test)
        let report = try test.gate("gate")
        #expect(report.generation == 1 && report.crashCount == 0 && report.standby?.takeovers == 0)
        #expect(try await test.call("gate", "process") == process)
        await test.host.close()
    }

    @Test func `a standby of the earlier configuration does not take over from an instance of the next one`()
        async throws
    {
        let test = try await opened()
        let gate = try #require(try test.host.target("gate").node.gate)
        var configuration = gate.plan.configuration
        configuration.config["opens"] = .string("well")
        let successor = try await gate.openSuccessor(gate.plan.with(configuration), by: .max).get()
        // As if its runner ended right after the switch, before the standby is replaced, too.
        successor.generation.state.withLock { $0.loss = ConnectorError(.crashed, "the runner has ended") }
        gate.switchOver(to: successor)
        #expect(gate.state == .failed)
        #expect(try test.gate("gate").standby?.takeovers == 0)
        await test.host.close()
    }

    #if os(Linux)
        @Test func `a standby that opens while the gate wants another one is replaced by that one`() async throws {
            let test = try await opened(Self.leaf(), Self.leaf("other"))
            try await ready(test, "other")
            let gate = try #require(try test.host.target("gate").node.gate)
            // Both standbys are in one runner. As long as it is stopped, no other one opens there.
            let process = pid_t(try #require(try test.gate("gate").standby?.process))
            #expect(kill(process, SIGSTOP) == 0)
            try await awaitStop(of: process)
            gate.renewStandby()
            // A switch after an attempt has begun, and before there is a generation, finds nothing to end.
            func outdate() -> Bool {
                gate.storage.withLock { storage in
                    guard let opening = storage.standby.opening.take() else { return false }
                    _ = storage.standby.removeGenerations(test.clock)
                    storage.standby.opening = opening
                    return true
                }
            }
            while !outdate() { try await Task.checkedYield() }
            #expect(kill(process, SIGCONT) == 0)
            while try test.gate("gate").standby?.state != .ready { try await Task.checkedYield() }
            await test.host.close()
        }
    #endif

    @Test func `a reload adds a standby, and takes it away, without another instance`() async throws {
        let without = Self.settings.replacing(#""standby": true, "#, with: "")
        let test = try await TestHost.opened(Self.leaf(settings: without))
        let process = try await test.call("gate", "process")
        #expect(try test.gate("gate").standby == nil)
        let plan = try await test.host.reload(TestHost.configuration([Self.leaf()], mode: "atomic")).plan
        #expect(plan?["gate"]?.fields.map(\.name) == ["standby"] && plan?["gate"]?.cost == .nothing)
        try await ready(test)
        let standby = try test.gate("gate").standby?.process
        try await test.reload(Self.leaf(settings: without))
        #expect(try test.gate("gate").standby == nil)
        try await ends(standby)
        #expect(try await test.call("gate", "process") == process)
        #expect(try test.gate("gate").generation == 1)
        await test.host.close()
    }

    @Test func `connectors that share a runner have their standbys in another one`() async throws {
        let test = try await opened(Self.leaf(), Self.leaf("other"))
        try await ready(test, "other")
        #expect(test.host.report.runners.count == 2)
        let standby = try test.gate("other").standby?.process
        #expect(try test.gate("gate").standby?.process == standby)
        _ = try await crash(test)
        #expect(try await test.call("gate", "process").integer == standby)
        #expect(try await test.call("other", "process").integer == standby)
        #expect(try test.gate("other").crashCount == 1)
        await test.host.close()
    }

    @Test func `metrics count standbys`() async throws {
        let test = try await opened()
        _ = try await crash(test)
        let samples = test.host.metrics.filter { $0.definition.name.hasPrefix("connector.standby") }
        #expect(samples.map(\.definition.name) == ["connector.standby.ready", "connector.standby.takeovers"])
        try await test.reload(Self.leaf(settings: Self.settings.replacing(#""standby": true, "#, with: "")))
        let later = test.host.metrics.filter { $0.definition.name.hasPrefix("connector.standby") }
        #expect(later.map(\.definition) == [.standbyTakeovers], "a counter stays when the standby goes")
        #expect(later.map(\.value) == [.count(1)])
        await test.host.close()
    }

    @Test func `a standby that takes over from an instance of the earlier configuration is replaced in its place`()
        async throws
    {
        let test = try await opened()
        let gate = try #require(try test.host.target("gate").node.gate)
        var configuration = gate.plan.configuration
        configuration.config["opens"] = .string("well")
        let plan = gate.plan.with(configuration)
        // As if the runner ended right after a reload, before the instance is replaced.
        gate.storage.withLock { _ = gate.adopt(plan, &$0) }
        let current = try #require(gate.storage.withLock { $0.current })
        gate.lost(current, ConnectorError(.crashed, "the runner has ended"))
        #expect(gate.state == .open)
        #expect(try test.gate("gate").standby?.takeovers == 1)
        gate.replaceOutdated()
        while gate.storage.withLock({ $0.current?.configuration }) != configuration { try await Task.checkedYield() }
        #expect(gate.state == .open)
        await test.host.close()
    }
}
