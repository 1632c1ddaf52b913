// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// Gates that are not open when a reload begins, or that open, heal or close while it is in progress.
@Suite(.timeLimit(.minutes(5))) struct ReloadedGateTests: ReloadedLeaves {
    let name = TestHost.unique("reload")

    @Test func `a gate that was closed by hand stays closed, and opens with the new settings`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        try await test.host.close("gate")
        let reload = try await test.reload(leaf("gate", ["replies": "2"]), other)
        #expect(reload.isActive && test.state("gate") == .closed)
        #expect(try await test.lives(name) == ["created": 1, "closed": 1, "destroyed": 1])
        #expect(try await test.host.open("gate")["gate"]?.state == .open)
        #expect(try await test.call("gate", "answer", ["value": 0]) == 2)
        await test.host.close()
    }

    @Test func `a connector that had failed opens with its new settings`() async throws {
        let test = try TestHost(leaf("gate", ["opens": "refuses"]), other)
        await test.host.open()
        #expect(test.state("gate") == .failed)
        let reload = try await test.reload(leaf(), other)
        #expect(reload.isActive && test.state("gate") == .open)
        await test.host.close()
    }

    /// Reloads with another configuration of the gate. Before the switch, while a new gate opens, runs a body.
    private func reload(_ test: TestHost, _ gate: JSONObject, during body: () async throws -> Void) async throws
        -> Reload
    {
        let held = TestHost.unique("held")
        let new = TestHost.leaf("new", ["name": .string(held), "opens": "held"])
        let next = try TestHost.configuration([leaf("gate", gate), other, new], mode: "atomic")
        let reloading = Task { await test.host.reload(next) }
        try await TestHost.taken("\(held):open")
        try await body()
        try await TestHost.finish("\(held):open", [["kind": "configured"]])
        return await reloading.value
    }

    @Test func `a gate that heals while a reload opens others gets its new configuration`() async throws {
        let test = try TestHost(leaf("gate", ["opens": "switched", "replies": "1"]), other)
        try await test.host.open("other")
        func set(_ status: Int64) async throws {
            try await test.call("other", "probes", ["name": .string(name), "status": .integer(status)])
        }
        try await set(8)
        await test.host.open()
        #expect(test.state("gate") == .failed)
        let reload = try await reload(test, ["opens": "switched", "replies": "2"]) {
            try await set(0)
            #expect(try await test.host.retry("gate")["gate"]?.state == .open)
            #expect(try await test.call("gate", "answer", ["value": 0]) == 1)
        }
        #expect(reload.isActive)
        while try await test.call("gate", "answer", ["value": 0]) != 2 { try await Task.checkedYield() }
        #expect(try test.gate("gate").generation == 2)
        await test.host.close()
    }

    @Test func `a gate that is opened by hand while a reload opens others gets its new configuration`() async throws {
        let test = try await TestHost.opened(leaf("gate", ["replies": "1"]), other)
        try await test.host.close("gate")
        let reload = try await reload(test, ["replies": "2"]) {
            let report = try await test.host.open("gate")
            #expect(report["gate"]?.state == .open)
            #expect(try await test.call("gate", "answer", ["value": 0]) == 1)
        }
        #expect(reload.isActive)
        while try await test.call("gate", "answer", ["value": 0]) != 2 { try await Task.checkedYield() }
        try await test.lives(name, become: ["created": 3, "closed": 2, "destroyed": 2])
        await test.host.close()
    }

    @Test func `a failed gate that is closed by hand while a reload opens others stays closed`() async throws {
        let test = try TestHost(leaf("gate", ["opens": "refuses"]), other)
        await test.host.open()
        #expect(test.state("gate") == .failed)
        let reload = try await reload(test, [:]) { try await test.host.close("gate") }
        #expect(reload.isActive && test.state("gate") == .closed)
        #expect(try await test.lives(name)["created"] == 1)
        await test.host.close()
    }

    @Test func `a host that closes during a reload ends it, and everything it opened`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        let reloading = Task { try await test.reload(leaf("gate", ["opens": "held"]), other) }
        try await TestHost.taken("\(name):open")
        await test.host.close()
        let reload = try await reloading.value
        #expect(!reload.isActive)
        #expect(test.host.report.gates.allSatisfy { $0.state == .closed })
        #expect(await test.host.reload().errors.first?.code == .notOpen)
    }

    @Test(arguments: [true, false])
    func `closing the gate or the host ends the wait before its successor is tried again`(isHost: Bool) async throws {
        let settings = #""probe": "off", "retry": {"attempts": 5, "initial": "10s", "max": "10s"}"#
        let test = try await TestHost.opened(leaf("gate", settings: settings), other)
        let reloading = Task {
            try await test.reload(leaf("gate", ["opens": "fails"], settings: settings), other)
        }
        while try await test.lives(name)["destroyed"] != 1 { try await Task.checkedYield() }
        if isHost { await test.host.close() } else { try await test.host.close("gate") }
        let reload = try await reloading.value
        #expect(reload.isActive != isHost)
        #expect(test.host.report["gate"]?.state == .closed)
        await test.host.close()
    }

    // MARK: Outdated instances

    /// The gate of a host, which has adopted another configuration that its instance does not have yet.
    private func outdated(_ test: TestHost, _ config: JSONObject) throws -> Gate {
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        var next = gate.plan.configuration
        for member in config.members { next.config[member.name] = member.value }
        let plan = gate.plan.with(next)
        gate.storage.withLock { _ = gate.adopt(plan, &$0) }
        return gate
    }

    @Test func `a gate whose instance is already being replaced does not close for its new configuration`()
        async throws
    {
        let test = try await TestHost.opened(leaf(), other)
        let gate = try outdated(test, ["opens": "held"])
        let (configuration, number) = (gate.plan.configuration, gate.planNumber)
        let replacing = Task { await gate.replace(by: configuration, of: number) }
        try await TestHost.taken("\(name):open")
        gate.replaceOutdated()
        try await TestHost.finish("\(name):open", [["kind": "configured"]])
        let replaced = await replacing.value
        #expect(throws: Never.self) { try replaced.get() }
        #expect(gate.report.generation == 2 && gate.state == .open)
        #expect(try await test.lives(name) == ["created": 2, "closed": 1, "destroyed": 1])
        await test.host.close()
    }

    @Test func `an outdated instance is replaced once the secrets have been renewed`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        let gate = try outdated(test, ["replies": "2"])
        gate.renewAfterRefusal()
        while try await test.call("gate", "answer", ["value": 0]) != 2 { try await Task.checkedYield() }
        try await test.lives(name, become: ["created": 2, "closed": 1, "destroyed": 1])
        await test.host.close()
    }

    @Test func `a gate that closes for its new configuration keeps the successor that a later reload has prepared`()
        async throws
    {
        let test = try await TestHost.opened(leaf(), other)
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        var next = gate.plan.configuration
        next.config["replies"] = "2"
        let successor = try await gate.openSuccessor(gate.plan.with(next), by: .max).get()
        await gate.restart()
        #expect(gate.state == .open)
        gate.switchOver(to: successor)
        #expect(try await test.call("gate", "answer", ["value": 0]) == 2)
        try await test.lives(name, become: ["created": 3, "closed": 2, "destroyed": 2])
        await test.host.close()
    }

    @Test func `a gate that is opening opens with the settings of a reload, and nothing has failed`() async throws {
        let log = InMemoryLogHandler()
        let test = try TestHost(
            leaf("gate", ["opens": "held", "replies": "1"]),
            other,
            logger: Logger(label: "test") { _ in log }
        )
        async let opening = test.host.open()
        try await TestHost.taken("\(name):open")
        let reload = try await test.reload(leaf("gate", ["replies": "2"]), other)
        let report = await opening
        #expect(reload.isActive && report["gate"]?.state == .open && report["gate"]?.error == nil)
        #expect(try await test.call("gate", "answer", ["value": 0]) == 2)
        #expect(!log.entries.contains { ["gate failed", "gate recovered"].contains("\($0.message)") })
        while try await test.lives(name)["destroyed"] != 1 { try await Task.checkedYield() }
        await test.host.close()
    }

    @Test func `a gate that waits for its turn opens in its turn, with the settings of a reload`() async throws {
        let first = leaf("first", ["opens": "held"])
        func second(_ replies: String) -> String {
            TestHost.leaf("second", ["replies": .string(replies)], settings: #""after": ["first"], "probe": "off""#)
        }
        let test = try TestHost(first, second("1"))
        async let opening = test.host.open()
        try await TestHost.taken("\(name):open")
        let reload = try await test.reload(first, second("2"))
        #expect(reload.isActive && test.state("second") == .closed)
        try await TestHost.finish("\(name):open", [["kind": "configured"]])
        let report = await opening
        #expect(report["second"]?.state == .open && report["second"]?.generation == 1)
        #expect(try await test.call("second", "answer", ["value": 0]) == 2)
        await test.host.close()
    }
}
