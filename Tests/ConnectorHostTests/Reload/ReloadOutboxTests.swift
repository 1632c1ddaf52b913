// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorOutbox
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What becomes of waiting events when their connectors change, move or go.
@Suite(.timeLimit(.minutes(5))) struct ReloadOutboxTests {
    private static let queued = #""probe": "off", "outbox": {"batch": {"count": 1}}"#

    private func leaf(_ name: String, away: Int64 = 0, settings: String = queued) -> String {
        TestHost.leaf(name, plugin: "deliveries", ["away": .integer(away)], settings: settings)
    }

    /// Sends events to a vendor that is away.
    private func queued(_ count: Int, at path: String, _ test: TestHost) async throws -> [Receipt] {
        var receipts: [Receipt] = []
        for _ in 1...count { receipts.append(try await test.host.analytics(path).track("Seen")) }
        _ = await test.host.report { $0[path]?.outbox?.queued == count && $0[path]?.outbox?.code != nil }
        return receipts
    }

    @Test func `the successor inherits the queue of a vendor that is away`() async throws {
        let test = try await TestHost.opened(leaf("a", away: 1_000_000))
        let receipts = try await queued(5, at: "a", test)
        let plan = try await test.host.plan(try TestHost.configuration([leaf("a")]))
        #expect(plan["a"]?.events == .init(queued: 5, outcome: .stay))
        #expect(try await test.reload(leaf("a")).isActive)
        for receipt in receipts { try await receipt.delivered() }
        #expect(test.host.outbox(of: "a")?.delivered == 5)
        await test.host.close()
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
    func `the events of a vendor that answers 503 go to its new address, once and with their ids`() async throws {
        let isAway = Atomic(false)
        let accepted = Array(#"{"success": true}"#.utf8)
        let old = LoopbackServer { _ in .response(isAway.load(ordering: .relaxed) ? 503 : 200, [], accepted) }
        let new = LoopbackServer { _ in .response(200, [], accepted) }
        defer { [old, new].forEach { $0.stop() } }
        func connectors(_ server: LoopbackServer) -> String {
            #"[{"name": "a", "plugin": "segment", "config": {"endpoint": "\#(server.url(""))", "writeKey": "key"}, "#
                + Self.queued + "}]"
        }
        let host = try ConnectorHost.testing(connectors(old), plugins: [try BuiltProducts.library("segment")])
        #expect(await host.open().isReady)
        isAway.store(true, ordering: .relaxed)
        var receipts: [Receipt] = []
        for _ in 1...5 { receipts.append(try await host.analytics("a").track("Seen")) }
        _ = await host.report { $0["a"]?.outbox?.queued == 5 && $0["a"]?.outbox?.code == .unavailable }
        let next = try Configuration(
            parsing: #"{"version": 1, "connectors": \#(connectors(new))}"#,
            environment: Configuration.Environment([:])
        )
        #expect(await host.reload(next).isActive)
        for receipt in receipts { try await receipt.delivered() }
        let delivered = try new.requests.flatMap { request in
            let coding = request.fields["content-encoding"].flatMap(ContentCoding.init(name:))
            let body = try coding?.decode(request.body, limit: 1 << 20) ?? request.body
            return (try? JSONValue(parsing: body))?["batch"]?.array ?? []
        }.compactMap { $0["messageId"]?.string }
        #expect(delivered.sorted() == receipts.map(\.id).sorted())
        await host.close()
    }

    @Test func `the events of a removed connector become dead letters, which can be replayed to another one`()
        async throws
    {
        let test = try await TestHost.opened(leaf("a", away: 1_000_000), leaf("b"))
        let receipts = try await queued(3, at: "a", test)
        let plan = try await test.host.plan(try TestHost.configuration([leaf("b")]))
        #expect(plan["a"]?.events == .init(queued: 3, outcome: .die))
        #expect(try await test.reload(leaf("b")).isActive)
        let letters = try await test.host.deadLetters(of: "a")
        #expect(letters.map(\.id) == receipts.map(\.id))
        #expect(letters.first?.code == .unknownConnector)
        let error = try await failure { () throws(ConnectorError) in try await receipts[0].delivered() }
        #expect(error.code == .partial)
        #expect(try await test.host.replayDeadLetters(of: "a", to: "b") == 3)
        _ = await test.host.report { $0["b"]?.outbox?.delivered == 3 }
        #expect(try await test.host.deadLetters().isEmpty)
        await test.host.close()
    }

    @Test func `dead letters are not brought to a connector whose plugin does not take their events`() async throws {
        let other = TestHost.leaf("b", plugin: "values")
        let test = try await TestHost.opened(leaf("a", away: 1_000_000), other)
        let receipts = try await queued(1, at: "a", test)
        #expect(try await test.reload(other).isActive)
        let error = try await failure { () throws(ConnectorError) in
            try await test.host.replayDeadLetters(of: "a", to: "b")
        }
        #expect(error.code == .unsupported)
        #expect(error.message.hasPrefix("1 dead letter stays, as the connector does not offer "), "\(error.message)")
        #expect(try await test.host.deadLetters().map(\.id) == receipts.map(\.id))
        await test.host.close()
    }

    @Test func `a moved connector keeps its events, with their ids and receipts`() async throws {
        let test = try await TestHost.opened(leaf("old", away: 1_000_000))
        let receipts = try await queued(3, at: "old", test)
        let next = leaf("new", settings: Self.queued + #", "was": "old""#)
        let plan = try await test.host.plan(try TestHost.configuration([next]))
        #expect(plan["new"]?.kind == .moved && plan["new"]?.was == "old")
        #expect(plan["new"]?.events == .init(queued: 3, outcome: .move))
        #expect(try await test.reload(next).isActive)
        for receipt in receipts { try await receipt.delivered() }
        #expect(test.host.outbox(of: "new")?.delivered == 3)
        #expect(try await test.host.deadLetters().isEmpty)
        // The key may stay in the file.
        #expect(try await test.reload(next).plan?.isEmpty == true)
        await test.host.close()
    }

    @Test(arguments: [true, false])
    func `the events of a connector that has no queue any more are delivered, also if it moves`(
        _ moves: Bool
    ) async throws {
        let test = try await TestHost.opened(leaf("old", away: 1_000_000))
        // The fixture answers for one event at a time, and such a queue has no bound of its batches.
        let receipts = try await queued(1, at: "old", test)
        let direct = #""probe": "off", "delivery": "direct""#
        let next = moves ? leaf("new", settings: direct + #", "was": "old""#) : leaf("old", settings: direct)
        #expect(try await test.reload(next).isActive)
        for receipt in receipts { try await receipt.delivered() }
        #expect(test.host.outbox(of: moves ? "new" : "old")?.delivered == 1)
        #expect(try await test.host.deadLetters().isEmpty)
        await test.host.close()
    }

    @Test func `letters stay with a connector that is gone, and are delivered if it comes back without a queue`()
        async throws
    {
        let test = try await TestHost.opened(leaf("x", away: 1_000_000), leaf("y"))
        let receipts = try await queued(1, at: "x", test)
        #expect(try await test.reload(leaf("y")).isActive)
        for path in [nil, "x"] {
            let error = try await failure { () throws(ConnectorError) in
                try await test.host.replayDeadLetters(of: path)
            }
            #expect(error.code == .unknownConnector && error.fix?.contains("--to") == true, "\(error)")
            #expect(try await test.host.deadLetters(of: "x").map(\.id) == receipts.map(\.id))
        }
        #expect(test.host.outbox(of: "x")?.queued == 0)
        let direct = leaf("x", settings: #""probe": "off", "delivery": "direct""#)
        #expect(try await test.reload(direct, leaf("y")).isActive)
        #expect(try await test.host.replayDeadLetters() == 1)
        _ = await test.host.report { $0["x"]?.outbox?.delivered == 1 && $0["x"]?.outbox?.queued == 0 }
        #expect(try await test.host.deadLetters().isEmpty)
        await test.host.close()
    }

    @Test func `events that a process with the earlier file stores for a connector without a queue are delivered`()
        async throws
    {
        let directory = ScratchDirectory()
        let first = try TestHost(leaf("x"), state: directory.path)
        await first.host.open()
        // It delivers from now on, and the other one does not.
        try await first.host.analytics("x").track("Seen").delivered()
        let second = try TestHost(leaf("x"), state: directory.path)
        await second.host.open()
        #expect(try await first.reload(leaf("x", settings: #""probe": "off", "delivery": "direct""#)).isActive)
        _ = try await second.host.analytics("x").track("Seen")
        await first.clock.advance(toTimerAfter: .seconds(1))
        let report = await first.host.report { report in
            report["x"]?.outbox.map { $0.delivered == 2 || $0.dead > 0 } ?? false
        }
        #expect(report["x"]?.outbox?.delivered == 2)
        #expect(try await first.host.deadLetters().isEmpty)
        await second.host.close()
        await first.host.close()
    }

    @Test func `events that wait at a connector's former path, since its move was not made, are a warning`()
        async throws
    {
        let directory = ScratchDirectory()
        let first = try TestHost(leaf("old", away: 1_000_000), state: directory.path)
        await first.host.open()
        _ = try await queued(2, at: "old", first)
        await first.host.close()
        let next = leaf("new", settings: Self.queued + #", "was": "old""#)
        let second = try TestHost(next, state: directory.path)
        let report = await second.host.open()
        #expect(report["new"]?.warnings.map { $0.prefix(20) } == ["2 events wait at old"])
        await second.host.close()
    }

    @Test func `events that wait for a connector that is gone from the file at a restart are a warning`() async throws {
        let directory = ScratchDirectory()
        let first = try TestHost(leaf("old", away: 1_000_000), state: directory.path)
        await first.host.open()
        _ = try await queued(2, at: "old", first)
        await first.host.close()
        let second = try TestHost(leaf("new"), state: directory.path)
        let report = await second.host.open()
        let warning = try #require(report["new"]?.warnings.first)
        #expect(warning.hasPrefix("2 events wait for old, which is not in the configuration"))
        #expect(warning.hasSuffix("outbox drop --all --queued --gate old"))
        await second.host.close()
    }

    @Test(arguments: [#""delivery": "direct""#, #""policy": "all""#])
    func `the events of a connector that has no queue any more are delivered after a restart`(
        _ change: String
    ) async throws {
        let directory = ScratchDirectory()
        func file(_ settings: String, away: Int64 = 0) -> String {
            let child = leaf("x", away: away, settings: #""probe": "off""#)
            let policy = settings.contains("policy") ? "" : #", "policy": "first""#
            return #"{"name": "group", "connectors": [\#(child)]\#(policy)\#(settings.isEmpty ? "" : ", " + settings)}"#
        }
        let first = try TestHost(file("", away: 1_000_000), state: directory.path)
        await first.host.open()
        _ = try await queued(1, at: "group", first)
        await first.host.close()
        let second = try TestHost(file(change), state: directory.path)
        await second.host.open()
        _ = await second.host.report { $0["group"]?.outbox?.delivered == 1 && $0["group"]?.outbox?.queued == 0 }
        await second.host.close()
    }

    @Test func `the events of a leaf whose path becomes a further place of it are dead letters, as the plan says`()
        async throws
    {
        func file(_ child: String, _ root: String) -> String {
            #"{"name": "group", "policy": "all", "connectors": [\#(child)]}, \#(root)"#
        }
        let place = #"{"name": "a", "same": "x"}"#
        let test = try await TestHost.opened(file(leaf("a", away: 1_000_000), leaf("x")))
        _ = try await queued(3, at: "group/a", test)
        let next = file(place, leaf("x"))
        let plan = try await test.host.plan(try TestHost.configuration([next]))
        // The place is added at the path of the leaf that is removed.
        let removal = try #require(plan.changes.first { $0.kind == .removed })
        #expect(removal.path == "group/a" && removal.events == .init(queued: 3, outcome: .die))
        #expect(try await test.reload(next).isActive)
        #expect(try await test.host.deadLetters().map(\.connector) == ["group/a", "group/a", "group/a"])
        await test.host.close()
    }

    @Test func `a connector moves neither from nor to a path that another one has`() async throws {
        let test = try await TestHost.opened(leaf("x", away: 1_000_000), leaf("y"))
        let receipts = try await queued(2, at: "x", test)
        func moved(_ path: String, from was: String) -> String {
            leaf(path, settings: Self.queued + ", \"was\": \"\(was)\"")
        }
        for next in [
            [moved("z", from: "x"), moved("x", from: "y")], [moved("x", from: "y"), moved("y", from: "x")],
            [moved("y", from: "x")], [moved("z", from: "x"), leaf("x"), leaf("y")],
        ] {
            let refused = await test.host.reload(try TestHost.configuration(next))
            #expect(!refused.isActive && refused.phase == .plan)
            #expect(refused.errors.first?.code == .unsupported, "\(refused.errors)")
            #expect(test.host.outbox(of: "x")?.queued == 2)
        }
        // In two steps, and with the keys left in the file.
        #expect(try await test.reload(moved("z", from: "x"), leaf("y")).isActive)
        for receipt in receipts { try await receipt.delivered() }
        #expect(try await test.reload(moved("z", from: "x"), moved("x", from: "y")).isActive)
        #expect(try await test.reload(moved("z", from: "x"), moved("x", from: "y"), leaf("y")).isActive)
        #expect(test.host.outbox(of: "z")?.delivered == 2)
        await test.host.close()
    }

    @Test func `children move with their composite, also one whose own former path is of an earlier move`() throws {
        func file(_ name: String, _ settings: String = "", _ more: [String] = []) throws -> Configuration {
            let child = TestHost.leaf("x", settings: #""probe": "off", "was": "away""#)
            let other = TestHost.leaf("y", settings: #""probe": "off""#)
            let group = #"{"name": "\#(name)", "policy": "all", "connectors": [\#(child), \#(other)]\#(settings)}"#
            return try TestHost.configuration([group] + more)
        }
        func moves(_ next: Configuration, from running: Configuration) -> [String: String] {
            let known = Dictionary(running.enabledConnectors.map { ($0.path, $0) }) { first, _ in first }
            return next.moves(from: known, to: Set(next.enabledConnectors.map(\.path)))
        }
        let was = #", "was": "old""#
        #expect(
            try moves(file("new", was), from: file("old")) == ["new": "old", "new/x": "old/x", "new/y": "old/y"]
        )
        // A `was` that stays in the file after the move is not about the connector that has its path since.
        let other = #"{"name": "old", "policy": "all", "connectors": [\#(TestHost.leaf("x")), \#(TestHost.leaf("y"))]}"#
        #expect(try moves(file("new", was), from: file("new", was, [other])).isEmpty)
        let claiming = TestHost.leaf("z", settings: #""probe": "off", "was": "old/y""#)
        #expect(
            try moves(file("new", was, [claiming]), from: file("old"))
                == ["new": "old", "new/x": "old/x", "z": "old/y"]
        )
    }

    @Test(.enabled(if: NATSServers.areInstalled, "needs nats-server and libnats"))
    func `on NATS, the connectors that a reload adds or renames get their consumers, and deliver`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["old"])
        let directory = ScratchDirectory()
        func configuration(_ connectors: String...) throws -> Configuration {
            let outbox = #"{"engine": "nats", "url": "\#(servers.url())"}"#
            return try Configuration(
                parsing:
                    #"{"version": 1, "outbox": \#(outbox), "connectors": [\#(connectors.joined(separator: ", "))]}"#
            )
        }
        func leaf(_ name: String, away: Int64 = 0, more: String = "") -> String {
            TestHost.leaf(
                name,
                plugin: Fixtures.contract("deliveries"),
                ["away": .integer(away)],
                settings: Self.queued + more
            )
        }
        let options = ConnectorHost.Options(environment: .init([:]), stateDirectory: directory.path)
        let host = try ConnectorHost(configuration(leaf("old", away: 1_000_000)), options: options)
        #expect(await host.open().isReady)
        let receipt = try await host.analytics("old").track("Seen")
        let added = await host.reload(try configuration(leaf("old", away: 1_000_000), leaf("added")))
        #expect(added.isActive, "\(added.errors)")
        try await host.analytics("added").track("Seen").delivered()
        let moved = await host.reload(try configuration(leaf("new", more: #", "was": "old""#), leaf("added")))
        #expect(moved.isActive, "\(moved.errors)")
        try await receipt.delivered()
        #expect(host.outbox(of: "new")?.delivered == 1)
        await host.close()
        // What cannot be prepared changes nothing.
        let other = try ConnectorHost(configuration(leaf("new")), options: options)
        #expect(await other.open().isReady)
        servers.kill(0)
        let refused = await other.reload(try configuration(leaf("new"), leaf("more")))
        #expect(refused.phase == .open && refused.errors.first?.code == .storage, "\(refused.errors)")
        #expect(other.report.gates.map(\.path) == ["new"])
        await other.close()
    }

    @Test func `a changed delivery policy takes effect at once, and keeps the queue`() async throws {
        let test = try await TestHost.opened(leaf("a", away: 3, settings: Self.queued + #", "heal": "off""#))
        let receipts = try await queued(2, at: "a", test)
        let settings = #""probe": "off", "outbox": {"batch": {"count": 1}, "maxBytes": 100000}"#
        #expect(try await test.reload(leaf("a", away: 3, settings: settings)).isActive)
        #expect(try test.gate("a").generation == 1)
        while let outbox = test.host.outbox(of: "a"), outbox.delivered != 2 {
            // The clock stands still while an attempt is made.
            if outbox.nextAttemptAt != nil { test.clock.advance(by: .seconds(5)) }
            try await Task.checkedYield()
        }
        for receipt in receipts { try await receipt.delivered() }
        await test.host.close()
    }

    @Test func `a plan counts the events that another process has just stored`() async throws {
        let directory = ScratchDirectory()
        func host() async throws -> ConnectorHost {
            let host = try ConnectorHost.testing(
                "[\(leaf("a", away: 1_000_000)), \(leaf("b"))]",
                plugins: [Fixtures.contract("deliveries")],
                clock: ManualHostClock(),
                stateDirectory: directory.path
            )
            await host.open()
            return host
        }
        let first = try await host()
        _ = try await first.analytics("a").track("Seen")
        _ = await first.report { $0["a"]?.outbox?.code != nil }
        // The first host delivers, and does not poll while its clock stands still.
        let second = try await host()
        _ = try await second.analytics("a").track("Seen")
        let plan = try await first.plan(try TestHost.configuration([leaf("b")]))
        #expect(plan["a"]?.events == .init(queued: 2, outcome: .die))
        await second.close()
        await first.close()
    }

    @Test func `events of a connector that this process never had in a configuration stay as they are`() async throws {
        let directory = ScratchDirectory()
        func host(_ connectors: String...) async throws -> ConnectorHost {
            let host = try ConnectorHost.testing(
                "[\(connectors.joined(separator: ","))]",
                plugins: [Fixtures.contract("deliveries"), Fixtures.contract("calls")],
                stateDirectory: directory.path
            )
            await host.open()
            return host
        }
        let first = try await host(leaf("unknown", away: 1_000_000))
        _ = try await first.analytics("unknown").track("Seen")
        _ = await first.report { $0["unknown"]?.outbox?.code != nil }
        await first.close()
        let second = try await host(leaf("a", away: 1_000_000), leaf("b"))
        _ = try await second.analytics("a").track("Seen")
        _ = await second.report { $0["a"]?.outbox?.code != nil }
        #expect(await second.reload(try TestHost.configuration([leaf("b")])).isActive)
        let letters = try await second.deadLetters()
        #expect(letters.map(\.connector) == ["a"])
        #expect(second.outbox(of: "unknown")?.queued == 1)
        await second.close()
    }
}
