// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Logging
import Synchronization
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// A reload changes what has changed, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct ReloadTests: ReloadedLeaves {
    let name = TestHost.unique("reload")

    private typealias Invent =
        @convention(c) (
            OperationFunction.Instance, UInt64, UnsafeMutablePointer<Int32>, OperationFunction.Failure
        ) -> Int32

    @Test func `a connector that has not changed keeps its instance, while others come and go`() async throws {
        let test = try await TestHost.opened(leaf(), other, TestHost.leaf("old"))
        let client = try test.host.gate("gate")
        let reload = try await test.reload(leaf(), other, TestHost.leaf("new"))
        #expect(reload.isActive && reload.errors.isEmpty)
        #expect(reload.plan?.kept == ["gate", "other"])
        #expect(reload.plan?["new"]?.kind == .added && reload.plan?["old"]?.kind == .removed)
        #expect(test.host.report.gates.map(\.path) == ["gate", "other", "new"])
        #expect(test.host.report.isReady)
        #expect(try test.gate("gate").generation == 1)
        #expect(try await test.lives(name) == ["created": 1, "closed": 0, "destroyed": 0])
        _ = try await client.call("answer", ["value": 0])
        let error = try await failure { () throws(ConnectorError) in try await test.call("old", "counts") }
        #expect(error.code == .unknownConnector)
        #expect(test.host.report.configuration?.digest == reload.digest)
        await test.host.close()
    }

    @Test func `a reload with nothing to do is one line of the log`() async throws {
        let lines = Journal<String>()
        let test = try TestHost(leaf(), other, logger: Logger(label: "test") { _ in JournalLogHandler(lines) })
        await test.host.open()
        #expect(try await test.reload(leaf(), other).isActive)
        let before = lines.values
        let reload = try await test.reload(leaf(), other)
        #expect(reload.isActive && reload.plan?.isEmpty == true)
        #expect(lines.values.dropFirst(before.count) == ["the configuration has not changed"])
        await test.host.close()
    }

    @Test func `calls are recorded from the reload that asks for it to the one that no longer does`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        func isRecorded() throws -> Bool? {
            try test.host.current.node("gate").node.gate?.isRecorded.load(ordering: .relaxed)
        }
        #expect(try isRecorded() == false)
        let file = ScratchDirectory().path + "/gate.json"
        #expect(try await test.reload(leaf(settings: #""probe": "off", "record": "\#(file)""#), other).isActive)
        #expect(try isRecorded() == true)
        _ = try await test.call("gate", "answer", ["value": 0])
        #expect(try await test.reload(leaf(), other).isActive)
        #expect(try isRecorded() == false)
        await test.host.close()
    }

    @Test func `a changed connector opens beside the instance that runs, whose calls in flight finish`() async throws {
        let test = try await TestHost.opened(leaf("gate", ["replies": "later"]), other)
        let client = try test.host.gate("gate")
        let call = Task { try await client.call("answer", ["value": 0]) }
        try await TestHost.taken("\(name):answer")
        let reloading = Task { try await test.reload(leaf("gate", ["replies": "2"]), other) }
        while try test.gate("gate").generation < 2 { try await Task.checkedYield() }
        #expect(try await client.call("answer", ["value": 0]) == 2)
        #expect(try test.gate("gate").drainingCount == 1)
        try await TestHost.finish("\(name):answer", 1)
        #expect(try await call.value == 1)
        let reload = try await reloading.value
        #expect(reload.isActive && reload.draining.isEmpty)
        #expect(reload.plan?["gate"]?.cost == .opensBeside)
        #expect(reload.plan?["gate"]?.fields == [.init(name: "config.replies", from: "later", to: "2")])
        try await test.lives(name, become: ["created": 2, "closed": 1, "destroyed": 1])
        await test.host.close()
    }

    @Test func `a change of a value that is not shown is a change`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate", ["name": .string("https://one@\(name)")]))
        let reload = try await test.reload(TestHost.leaf("gate", ["name": .string("https://two@\(name)")]))
        #expect(reload.isActive)
        let field = try #require(reload.plan?["gate"]?.fields.first)
        #expect(field.name == "config.name" && field.from == "https://•••@\(name)")
        #expect(field.to == "https://•••@\(name) (another value, which is not shown)")
        #expect(try test.gate("gate").generation == 2)
        await test.host.close()
    }

    @Test func `if the successor of a required connector fails, nothing changes, and the report says why`() async throws
    {
        let test = try await TestHost.opened(leaf(), other)
        let before = test.host.report.configuration?.digest
        let reload = try await test.reload(leaf("gate", ["opens": "fails"]), other, TestHost.leaf("new"))
        #expect(reload.phase == .open && reload.digest == before)
        #expect(reload.errors.first?.connector == "gate" && reload.errors.first?.code == .unavailable)
        let report = test.host.report
        #expect(report.gates.map(\.path) == ["gate", "other"])
        #expect(report.configuration?.differs == true)
        #expect(report["gate"]?.generation == 1 && report["gate"]?.state == .open)
        _ = try await test.call("gate", "answer", ["value": 0])
        #expect(try await test.reload(leaf(), other).isActive)
        #expect(test.host.report.configuration?.differs == false)
        await test.host.close()
    }

    @Test func `in the mode each, what works is switched, and the rest stays as it was`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        let next = [leaf("gate", ["opens": "fails"]), TestHost.leaf("other", ["replies": "7"])]
        let reload = await test.host.reload(try TestHost.configuration(next, mode: "each"))
        #expect(reload.isActive && reload.rolledBack == ["gate"] && reload.errors.first?.connector == "gate")
        #expect(try await test.call("other", "answer", ["value": 0]) == 7)
        _ = try await test.call("gate", "answer", ["value": 0])
        #expect(test.host.report.configuration?.errors.map(\.connector) == ["gate"])
        // The change that failed is still to be made.
        let plan = try await test.host.plan(try TestHost.configuration(next, mode: "each"))
        #expect(plan.changes.map(\.path) == ["gate"])
        await test.host.close()
    }

    @Test func `an optional connector that fails is rolled back alone`() async throws {
        let optional = #""probe": "off", "required": false"#
        let test = try await TestHost.opened(leaf("gate", settings: optional), other)
        let reload = try await test.reload(
            leaf("gate", ["opens": "fails"], settings: optional),
            TestHost.leaf("other", ["replies": "7"])
        )
        #expect(reload.isActive && reload.rolledBack == ["gate"])
        #expect(test.host.report["gate"]?.generation == 1 && test.host.report["other"]?.generation == 2)
        await test.host.close()
    }

    @Test func `an optional connector that moves and does not open at its new path stays where it was`() async throws {
        let optional = #""probe": "off", "required": false"#
        let test = try await TestHost.opened(leaf("gate", settings: optional), other)
        let moved = leaf("new", ["opens": "fails"], settings: optional + #", "was": "gate""#)
        for mode in ["atomic", "each"] {
            let reload = try await test.reload(moved, other, mode: mode)
            #expect(reload.phase == .open && reload.errors.map(\.connector) == ["new"])
            #expect(test.host.report.gates.map(\.path) == ["gate", "other"])
            #expect(try test.gate("gate").state == .open && test.gate("gate").generation == 1)
        }
        _ = try await test.call("gate", "answer", ["value": 0])
        await test.host.close()
    }

    @Test func `the order of the roots changes without opening anything`() async throws {
        let test = try await TestHost.opened(leaf(), other, TestHost.leaf("old"))
        let reload = try await test.reload(TestHost.leaf("new"), other, leaf())
        #expect(reload.isActive)
        #expect(reload.plan?.settings == [.init(name: "order", from: "gate, other", to: "other, gate")])
        let again = try await test.reload(leaf(), TestHost.leaf("new"), other)
        #expect(again.isActive && again.plan?.changes.isEmpty == true)
        #expect(test.host.report.gates.map(\.path) == ["gate", "new", "other"])
        #expect(try test.gate("gate").generation == 1)
        // Nothing but a removal.
        #expect(try await test.reload(leaf(), other).plan?.settings.isEmpty == true)
        await test.host.close()
    }

    @Test func `timeouts, proofs, healing, order and policies change without opening anything`() async throws {
        let test = try await TestHost.opened(TestHost.composite("group", "all", leaf("a"), TestHost.leaf("b")), other)
        let reload = try await test.reload(
            TestHost.composite(
                "group",
                "first",
                TestHost.leaf("b"),
                leaf("a", settings: #""timeout": "3s", "probe": "45s", "heal": {"initial": "2s", "max": "9s"}"#),
                settings: #""delivery": "direct""#
            ),
            other
        )
        #expect(reload.isActive)
        #expect(reload.plan?["group/a"]?.cost == .nothing)
        #expect(reload.plan?["group"]?.fields.map(\.name) == ["policy", "order", "delivery"])
        #expect(try await test.lives(name) == ["created": 1, "closed": 0, "destroyed": 0])
        #expect(test.host.report.gates.map(\.path) == ["group", "group/b", "group/a", "other"])
        #expect(try test.gate("group").policy == "first" && test.gate("group/a").generation == 1)
        #expect(test.host.current.tree["group/a"]?.gate?.plan.timeout == .seconds(3))
        // The proof of the new interval.
        #expect(test.clock.timerCount == 1)
        await test.host.close()
    }

    @Test func `applying the same configuration twice changes nothing`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        let plan = try #require(try await test.reload(leaf(), other).plan)
        #expect(plan.isEmpty && plan.kept == ["gate", "other"])
        #expect(try test.gate("gate").generation == 1)
        await test.host.close()
    }

    @Test func `reloads during a reload are served together, and each caller learns what is active`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        let first = Task { try await test.reload(leaf("gate", ["opens": "held"]), other) }
        try await TestHost.taken("\(name):open")
        let later = (1...5).map { number in
            Task { try await test.reload(leaf("gate", ["replies": .string("\(number)")]), other) }
        }
        while test.host.reloader.waitingCount < 5 { try await Task.checkedYield() }
        try await TestHost.finish("\(name):open", [["kind": "configured"]])
        #expect(try await first.value.isActive)
        var digests: Set<String> = []
        for task in later {
            let reload = try await task.value
            #expect(reload.isActive)
            digests.insert(reload.digest)
        }
        #expect(digests == [test.host.report.configuration?.digest])
        #expect(try test.gate("gate").generation == 3)
        await test.host.close()
    }

    @Test func `a plan is refused once something has changed since, and the error says what`() async throws {
        let directory = ScratchDirectory()
        let path = "\(directory.path)/connectors.json"
        func write(_ replies: String) {
            let leaf = TestHost.leaf("gate", plugin: Fixtures.contract("calls"), ["replies": .string(replies)])
            directory.write(Array(#"{"version": 1, "connectors": [\#(leaf)]}"#.utf8), to: "connectors.json")
        }
        write("1")
        let host = try ConnectorHost(
            file: path,
            options: .init(environment: .init([:]), stateDirectory: directory.path)
        )
        await host.open()
        write("2")
        let plan = try await host.plan()
        #expect(plan.changes.map(\.path) == ["gate"])
        let read = try #require(Plan(json: plan.json))
        #expect(read == plan)
        write("3")
        let refused = await host.apply(read)
        #expect(refused.phase == .plan && refused.errors.first?.code == .conflict)
        #expect(refused.errors.first?.message.contains("the file \(path)") == true)
        let applied = await host.apply(try await host.plan())
        #expect(applied.isActive)
        #expect(try await host.gate("gate").call("answer", ["value": 0]) == 3)
        // That an old plan is refused says nothing about the file, which is what runs.
        #expect(await host.apply(read).errors.first?.code == .conflict)
        #expect(host.report.configuration?.errors.isEmpty == true)
        await host.close()
    }

    @Test func `two hundred corrupted files change nothing, and no call fails`() async throws {
        let directory = ScratchDirectory()
        let path = "\(directory.path)/connectors.json"
        let leaf = TestHost.leaf("gate", plugin: Fixtures.contract("calls"))
        let text = Array(#"{"version": 1, "connectors": [\#(leaf)]}"#.utf8)
        directory.write(text, to: "connectors.json")
        let host = try ConnectorHost(
            file: path,
            options: .init(environment: .init([:]), stateDirectory: directory.path)
        )
        await host.open()
        let gate = try host.gate("gate")
        let calls = repeating { _ = try await gate.call("answer", ["value": 0]) }
        var random = SeededGenerator(seed: 19)
        for round in 1...200 {
            var broken = text
            let place = Int.random(in: 1..<broken.count, using: &random)
            // Cut off, as while it is written, or with a byte that no JSON has.
            if round.isMultiple(of: 2) { broken.removeSubrange(place...) } else { broken[place] = 0 }
            directory.write(broken, to: "connectors.json")
            let reload = await host.reload()
            #expect(reload.phase == .read && !reload.errors.isEmpty)
            #expect(host.report.configuration?.differs == true)
        }
        directory.write(text, to: "connectors.json")
        #expect(await host.reload().isActive)
        #expect(host.report.configuration?.differs == false && host.report["gate"]?.generation == 1)
        calls.cancel()
        #expect(try await calls.value > 0)
        await host.close()
    }

    @Test func `at most two earlier instances drain, and the calls of the oldest are ended`() async throws {
        let test = try await TestHost.opened(leaf("gate", ["replies": "later"]), other)
        var calls: [Task<ConnectorError?, Never>] = []
        for round in 1...5 {
            let client = try test.host.gate("gate")
            calls.append(
                Task {
                    do throws(ConnectorError) {
                        _ = try await client.call("begin", ["name": .string("\(name)-\(round)")])
                        return nil
                    } catch {
                        return error
                    }
                }
            )
            try await TestHost.taken("\(name)-\(round)")
            let reloading = Task { try await test.reload(leaf("gate", ["replies": .string("\(round)")]), other) }
            while try test.gate("gate").generation < round + 1 { try await Task.checkedYield() }
            // The reload waits for the drain for a second.
            await test.clock.advance(toTimerAfter: .seconds(1))
            #expect(try await reloading.value.isActive)
            while try test.gate("gate").drainingCount > 2 { try await Task.checkedYield() }
        }
        for call in calls.prefix(3) { #expect(await call.value?.code == .notOpen) }
        for round in 4...5 { try await TestHost.finish("\(name)-\(round)") }
        for call in calls.suffix(2) { #expect(await call.value == nil) }
        await test.host.close()
    }

    @Test func `a phase that hangs ends the reload at its deadline, and is named`() async throws {
        let test = try await TestHost.opened(leaf(), other)
        let opening = Task { try await test.reload(leaf("gate", ["opens": "never"]), other) }
        while try await test.lives(name)["created"] != 2 { try await Task.checkedYield() }
        while test.host.reloader.isRunning { test.clock.advance(by: .seconds(5)); try await Task.checkedYield() }
        let reload = try await opening.value
        #expect(reload.phase == .open && reload.errors.first?.code == .timedOut)
        _ = try await test.call("gate", "answer", ["value": 0])
        await test.host.close()
    }

    @Test func `a typed handle and a stream of events go on across the change`() async throws {
        let test = try await TestHost.opened(TestHost.composite("group", "all", leaf("a")), other)
        let invent = try unsafe test.host.gate("group/a").typed("invent", "(operation: u64) -> i32", as: Invent.self)
        let events = test.host.events(of: "group")
        _ = try await test.reload(
            TestHost.composite("group", "all", leaf("a", ["replies": "2"]), TestHost.leaf("b")),
            other
        )
        try await unsafe invent.withLease { lease throws(ConnectorError) in
            var status: Int32 = 0
            try unsafe lease.call { unsafe $0($1, 0, &status, $2) }
        }
        test.host.emit("changed", true, from: "group/b")
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next()?.connector == "group/b")
        await test.host.close()
    }

    @Test func `an endless call survives two swaps, and the host survives fifty`() async throws {
        let name = TestHost.unique("endless")
        func leaf(_ round: Int) -> String {
            TestHost.leaf("gate", ["name": .string(name), "replies": .string("\(round)")])
        }
        let test = try await TestHost.opened(leaf(0), TestHost.leaf("other"))
        let client = try test.host.gate("gate")
        let endless = Task { () -> ConnectorError? in
            do throws(ConnectorError) {
                _ = try await client.call(
                    "begin",
                    ["name": .string(name)],
                    options: CallOptions(timeout: .seconds(100_000))
                )
                return nil
            } catch {
                return error
            }
        }
        try await TestHost.taken(name)
        for round in 1...50 {
            let reloading = Task { try await test.reload(leaf(round), TestHost.leaf("other")) }
            while try test.gate("gate").generation < UInt64(round + 1) { try await Task.checkedYield() }
            while test.host.reloader.isRunning {
                test.clock.advance(by: .milliseconds(100))
                try await Task.checkedYield()
            }
            #expect(try await reloading.value.isActive)
            #expect(try await client.call("answer", ["value": 0]) == .integer(Int64(round)))
            #expect(try test.gate("gate").drainingCount <= 3)
        }
        #expect(await endless.value?.code == .notOpen)
        await test.host.close()
    }
}
