// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// While a successor is on trial, the host can go back to the instance before it.
@Suite(.timeLimit(.minutes(5))) struct TrialTests {
    private typealias Variant = ImageWorkspace.Variant

    private static let failing = Variant(
        version: "2.0.0",
        body: #"(void)result; return fixture_fail(error, CONNECTOR_FAILED, "it always fails");"#
    )

    /// A host whose gate keeps the previous instance for eight seconds.
    private func opened(_ first: Variant = Variant()) async throws -> (ImageWorkspace, ConnectorHost, ManualHostClock) {
        let workspace = ImageWorkspace()
        workspace.configure(settings: #", "trial": "8s""#)
        try workspace.install(first)
        let clock = ManualHostClock()
        return (workspace, try await workspace.host(clock: clock), clock)
    }

    private func call(_ host: ConnectorHost, _ count: Int) async {
        for _ in 1...count { _ = try? await host.answer() }
    }

    @Test func `a successor that fails more calls than its predecessor is rolled back`() async throws {
        let (workspace, host, clock) = try await opened()
        await call(host, 20)
        try workspace.install(Self.failing)
        let reload = await host.reload()
        #expect(reload.isActive && reload.draining.isEmpty)
        #expect(host.report["gate"]?.isOnTrial == true && host.report["gate"]?.drainingCount == 0)
        await call(host, 12)
        clock.advance(by: .seconds(1))
        let report = await host.report { $0.configuration?.differs == true }
        let gate = try #require(report["gate"])
        #expect(gate.state == .open && !gate.isOnTrial && gate.generation == 3)
        #expect(gate.plugin?.version.description == "1.0.0")
        let error = try #require(report.configuration?.errors.first)
        #expect(error.connector == "gate")
        #expect(error.message.contains("12 of 12 calls failed, and 0 of 20 before"))
        #expect(try await host.answer() == 1)
        // The file still asks for the successor, which is tried again when somebody says so.
        #expect(try await host.plan()["gate"]?.fields.map(\.name) == ["version", "image"])
        #expect(await host.reload().isActive)
        #expect(host.report["gate"]?.isOnTrial == true && host.report.configuration?.differs == false)
        await host.close()
    }

    @Test func `a successor that loses its evidence is rolled back at once`() async throws {
        let (workspace, host, _) = try await opened()
        try workspace.install(
            Variant(
                answer: 2,
                code: """
                    static int32_t open_once(void *instance, const connector_call *call, connector_error *error) {
                        static int count;
                        if (count++ > 0) return fixture_fail(error, CONNECTOR_UNAVAILABLE, "the vendor has gone");
                        return fixture_open(instance, call, error);
                    }
                    """,
                open: "open_once"
            )
        )
        #expect(await host.reload().isActive)
        #expect(try await host.answer() == 2)
        try await host.retry("gate")
        let report = await host.report { $0.configuration?.differs == true }
        #expect(report["gate"]?.state == .open && report["gate"]?.generation == 3)
        #expect(report.configuration?.errors.first?.message.contains("the vendor has gone") == true)
        #expect(try await host.answer() == 1)
        await host.close()
    }

    @Test func `a successor whose runner ends is rolled back at once`() async throws {
        let (workspace, host, _) = try await opened()
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        #expect(await host.reload().isActive)
        let gate = try #require(host.current.tree["gate"]?.gate)
        let successor = try #require(gate.storage.withLock { $0.current })
        gate.lost(successor, ConnectorError(.crashed, "the runner has ended"))
        #expect(gate.state == .open && !gate.isOnTrial)
        #expect(try await host.answer() == 1)
        let report = await host.report { $0.configuration?.differs == true }
        #expect(report["gate"]?.crashCount == 1 && report["gate"]?.generation == 3)
        #expect(report.configuration?.errors.first?.message.contains("the runner has ended") == true)
        await host.close()
    }

    @Test func `a successor that cannot be used at the end of its trial is rolled back`() async throws {
        let (workspace, host, clock) = try await opened()
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        #expect(await host.reload().isActive)
        let gate = try #require(host.current.tree["gate"]?.gate)
        #expect(gate.storage.withLock { $0.machine.instanceLost() })
        #expect(gate.state == .failed && gate.isOnTrial)
        while gate.isOnTrial {
            clock.advance(by: .seconds(1))
            try await Task.checkedYield()
        }
        #expect(gate.state == .open)
        #expect(try await host.answer() == 1)
        await host.close()
    }

    @Test func `a gate that is removed during its trial leaves no timer`() async throws {
        let (workspace, host, clock) = try await opened()
        let timers = clock.timerCount
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        #expect(await host.reload().isActive)
        #expect(host.report["gate"]?.isOnTrial == true)
        workspace.renameGate()
        #expect(await host.reload().isActive)
        // Neither that of the trial nor that of the windows.
        while clock.timerCount >= timers { try await Task.checkedYield() }
        #expect(try await host.answer("moved") == 2)
        await host.close()
    }

    @Test func `a connector that is reloaded without trials ends the one under way`() async throws {
        let (workspace, host, clock) = try await opened()
        let timers = clock.timerCount
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        #expect(await host.reload().isActive)
        workspace.configure()
        #expect(await host.reload().isActive)
        #expect(host.report["gate"]?.isOnTrial == false)
        while clock.timerCount >= timers { try await Task.checkedYield() }
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test func `a gate that goes back to an instance whose runner has ended fails`() async throws {
        let (workspace, host, _) = try await opened()
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        #expect(await host.reload().isActive)
        let gate = try #require(host.current.tree["gate"]?.gate)
        let predecessor = try #require(gate.storage.withLock { $0.predecessor?.generation })
        let loss = ConnectorError(.crashed, "the runner has ended")
        predecessor.state.withLock { $0.loss = loss }
        gate.lost(predecessor, loss)
        #expect(gate.state == .open && gate.isOnTrial)
        #expect(gate.rollBack(ConnectorError(.failed, "it does worse")))
        #expect(gate.state == .failed)
        let error = try await #require(throws: ConnectorError.self) { try await host.answer() }
        #expect(error.code == .notOpen && error.cause == "the runner has ended [crashed]")
        await host.close()
    }

    @Test func `a successor that does as well as its predecessor stays, and the predecessor ends`() async throws {
        let (workspace, host, clock) = try await opened(Self.failing)
        await call(host, 12)
        var other = Self.failing
        other.version = "3.0.0"
        try workspace.install(other)
        #expect(await host.reload().isActive)
        await call(host, 12)
        while host.report["gate"]?.isOnTrial == true {
            clock.advance(by: .seconds(1))
            try await Task.checkedYield()
        }
        let report = await host.report { $0["gate"]?.drainingCount == 0 }
        #expect(report["gate"]?.generation == 2 && report["gate"]?.plugin?.version.description == "3.0.0")
        #expect(report.configuration?.differs == false)
        await host.close()
    }

    @Test func `too few calls decide nothing, and another reload ends the trial`() async throws {
        let (workspace, host, clock) = try await opened()
        try workspace.install(Self.failing)
        #expect(await host.reload().isActive)
        await call(host, 9)
        clock.advance(by: .seconds(1))
        #expect(host.report["gate"]?.isOnTrial == true)
        try workspace.install(Variant(answer: 3, version: "3.0.0"))
        #expect(await host.reload().isActive)
        #expect(try await host.answer() == 3)
        #expect(host.report["gate"]?.isOnTrial == true && host.report["gate"]?.generation == 3)
        await host.close()
        #expect(host.report["gate"]?.state == .closed)
    }

    private typealias Unsigned =
        @convention(c) (OperationFunction.Instance, UnsafeMutablePointer<UInt64>, OperationFunction.Failure) -> Int32

    @Test func `during a trial a typed handle must also fit the instance before, which may come back`() async throws {
        let (workspace, host, _) = try await opened()
        try workspace.install(Variant(answer: 2, version: "2.0.0", signature: "() -> u64"))
        #expect(await host.reload().isActive)
        let gate = try #require(host.current.tree["gate"]?.gate)
        #expect(gate.isOnTrial)
        let error = #expect(throws: ConnectorError.self) {
            _ = try unsafe host.gate("gate").typed("answer", "() -> u64", as: Unsigned.self)
        }
        #expect(error?.code == .signatureMismatch)
        gate.endTrial()
        _ = try unsafe host.gate("gate").typed("answer", "() -> u64", as: Unsigned.self)
        await host.close()
    }

    @Test func `a gate that goes back while a reload replaces it keeps what the reload gives it`() async throws {
        let name = TestHost.unique("trial")
        func leaf(_ replies: String, _ config: JSONObject = [:]) -> String {
            var config = config
            config["name"] = .string(name)
            config["replies"] = .string(replies)
            return TestHost.leaf("gate", config, settings: #""probe": "off", "trial": "8s""#)
        }
        let test = try await TestHost.opened(leaf("1"), TestHost.leaf("other"))
        #expect(try await test.reload(leaf("2"), TestHost.leaf("other")).isActive)
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let next = try TestHost.configuration([leaf("3", ["opens": "held"]), TestHost.leaf("other")], mode: "atomic")
        let reloading = Task { await test.host.reload(next) }
        try await TestHost.taken("\(name):open")
        #expect(gate.rollBack(ConnectorError(.failed, "it does worse")))
        // The record of it waits for the reload.
        while test.host.reloader.waitingCount == 0 { try await Task.checkedYield() }
        try await TestHost.finish("\(name):open", [["kind": "configured"]])
        #expect(await reloading.value.isActive)
        await test.host.reloader.ended()
        #expect(try await test.call("gate", "answer", ["value": 0]) == 3)
        #expect(test.host.report.configuration?.errors.isEmpty == true)
        #expect(gate.plan.configuration.config["replies"] == "3")
        #expect(try await test.host.plan(next).isEmpty)
        // The instance before the new one is that to which the gate had gone back.
        #expect(gate.rollBack(ConnectorError(.failed, "it does worse, too")))
        _ = await test.host.report { $0.configuration?.differs == true }
        #expect(try await test.call("gate", "answer", ["value": 0]) == 1)
        let field = try await test.host.plan(next)["gate"]?.fields.first { $0.name == "config.replies" }
        #expect(field?.from == "1" && field?.to == "3")
        await test.host.close()
    }

    @Test func `after a gate has gone back, plans compare with all that it has again, and no earlier plan is applied`()
        async throws
    {
        let (workspace, host, _) = try await opened()
        let breaker = #", "trial": "8s", "breaker": {"failures": 2}"#
        workspace.configure(settings: breaker)
        try workspace.install(Variant(answer: 2, version: "2.0.0"))
        #expect(await host.reload().isActive)
        workspace.configure(settings: #", "trial": "8s", "timeout": "3s""#)
        let plan = try await host.plan()
        #expect(plan["gate"]?.fields.map(\.name) == ["timeout", "breaker"])
        let gate = try #require(host.current.tree["gate"]?.gate)
        #expect(gate.rollBack(ConnectorError(.failed, "it does worse")))
        _ = await host.report { $0.configuration?.differs == true }
        let refused = await host.apply(plan)
        #expect(refused.phase == .plan && refused.errors.first?.code == .conflict)
        #expect(refused.errors.first?.message.contains("the configuration that runs") == true, "\(refused.errors)")
        workspace.configure(settings: breaker)
        #expect(try await host.plan()["gate"]?.fields.map(\.name) == ["breaker", "version", "image"])
        let next = try await host.plan()
        #expect(await host.apply(next).isActive)
        #expect(host.report["gate"]?.isOnTrial == true && host.report["gate"]?.breaker != nil)
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test func `a trial that is not a duration is a fault`() throws {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Configuration(
                parsing: #"{"version": 1, "connectors": [{"name": "a", "plugin": "b", "trial": "soon"}]}"#,
                environment: .init([:])
            )
        }
        #expect(error?.errors.first?.message.contains("trial") == true)
    }
}
