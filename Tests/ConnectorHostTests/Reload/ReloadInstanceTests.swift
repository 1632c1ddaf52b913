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

/// What becomes of the instances that a reload opens, replaces and removes.
@Suite(.timeLimit(.minutes(5))) struct ReloadInstanceTests {
    private let name = TestHost.unique("instance")

    /// Waits until a gate's successor could receive calls, and lets its runner end.
    private func loseSuccessor(of gate: Gate) async throws {
        while true {
            let successor = gate.storage.withLock { storage -> Generation? in
                guard let opened = storage.successor, opened.state.withLock({ $0.seat != nil }) else { return nil }
                return opened
            }
            guard let successor else {
                try await Task.checkedYield()
                continue
            }
            let loss = ConnectorError(.crashed, "the runner has ended")
            successor.state.withLock { $0.loss = loss }
            return gate.lost(successor, loss)
        }
    }

    @Test func `a successor whose runner ends while others open ends the reload, and its predecessor goes on`()
        async throws
    {
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("other"))
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let late = TestHost.leaf("late", ["name": .string(name), "opens": "held"])
        let reloading = Task {
            try await test.reload(TestHost.leaf("gate", ["replies": "2"]), TestHost.leaf("other"), late)
        }
        try await TestHost.taken("\(name):open")
        try await loseSuccessor(of: gate)
        try await TestHost.finish("\(name):open", [])
        let reload = try await reloading.value
        #expect(reload.phase == .open)
        #expect(reload.errors.map(\.connector) == ["gate"] && reload.errors.map(\.code) == [.crashed])
        #expect(test.host.report["late"] == nil)
        #expect(try test.gate("gate").generation == 1)
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        await test.host.close()
    }

    @Test func `a successor whose runner ends after all have opened is not used, and the others are`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("other"))
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let dependencies = test.host.reloader.dependencies
        let run = ReloadRun(test.host.reloader, dependencies)
        let configuration = try TestHost.configuration([
            TestHost.leaf("gate", ["replies": "2"]), TestHost.leaf("other", ["replies": "7"]),
        ])
        let next = try await run.read(Reloader.Request(configuration: configuration))
        let work = ReloadWork(try await run.plan(next, basis: nil), next, dependencies)
        let opened = try await run.open(work)
        try await loseSuccessor(of: gate)
        let reload = await run.switch(work, opened)
        #expect(reload.isActive && reload.rolledBack == ["gate"])
        #expect(reload.errors.map(\.connector) == ["gate"] && reload.errors.map(\.code) == [.crashed])
        #expect(try test.gate("gate").generation == 1)
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        #expect(try await test.call("other", "answer", ["value": 1]) == 7)
        #expect(try await test.host.plan(configuration).changes.map(\.path) == ["gate"])
        await test.host.close()
    }

    @Test(arguments: [true, false])
    func `closing waits for the calls inside earlier instances, no longer than they may last`(isHost: Bool) async throws
    {
        let paths = ["gate", "gone"]
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("gone"))
        let earlier = paths.compactMap { test.host.current.tree[$0]?.gate }.compactMap { gate in
            gate.storage.withLock { $0.current }
        }
        try #require(earlier.count == 2)
        let calls = paths.map { path in
            Task {
                try await failure { () throws(ConnectorError) in
                    try await test.call(
                        path,
                        "begin",
                        ["name": .string("\(name)-\(path)")],
                        options: CallOptions(timeout: .seconds(100_000))
                    )
                }
            }
        }
        for path in paths { try await TestHost.taken("\(name)-\(path)") }
        let reloading = Task { try await test.reload(TestHost.leaf("gate", ["replies": "2"])) }
        while try test.gate("gate").generation < 2 { try await Task.checkedYield() }
        // The reload waits for the drain for a second.
        await test.clock.advance(toTimerAfter: .seconds(1))
        let draining = try await reloading.value.draining
        #expect(Set(draining).isSuperset(of: paths))
        // Steps so small that the time of the calls has not passed when closing would end without them.
        try await test.advance(by: .milliseconds(1)) {
            guard !isHost else { return await test.host.close() }
            try? await test.host.close("gate")
        }
        #expect(earlier[0].ended.value != nil)
        if isHost { #expect(earlier[1].ended.value != nil) }
        try await test.advance(by: .seconds(1)) { await test.host.close() }
        for call in calls { #expect(try await call.value.code == .notOpen) }
    }

    @Test func `a reload that ends because the host closes says so, and the log warns of nothing`() async throws {
        let log = InMemoryLogHandler()
        let test = try TestHost(TestHost.leaf("gate"), logger: Logger(label: "test") { _ in log })
        #expect(await test.host.open().isReady)
        let late = TestHost.leaf("late", ["name": .string(name), "opens": "held"])
        let reloading = Task { try await test.reload(TestHost.leaf("gate"), late) }
        try await TestHost.taken("\(name):open")
        try await test.advance(by: .seconds(1)) { await test.host.close() }
        let reload = try await reloading.value
        #expect(reload.phase == .open && reload.errors.map(\.message) == ["the host has closed"], "\(reload.errors)")
        #expect(!log.entries.contains { $0.message == "reload changed nothing" })
    }
}
