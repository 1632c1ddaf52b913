// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb
@testable import ConnectorHost
@testable import ConnectorOutbox

/// The dead letters of a host, as they are listed, searched, replayed and dropped.
@Suite(.enabled(if: !Sanitizer.isPresent, "the fixtures are not built for a sanitizer"), .timeLimit(.minutes(5)))
struct OutboxModelTests {
    private func withHost(_ body: (ConnectorHost, HostConsoleModel) async throws -> Void) async throws {
        let connectors = #"[{"name": "a", "plugin": "deliveries"}]"#
        let host = try ConnectorHost.testing(connectors, plugins: [Fixtures.contract("deliveries")])
        await host.open()
        try await body(host, HostConsoleModel(host))
        await host.close()
    }

    /// Sends events that the vendor refuses, and waits until they are dead letters.
    private func refused(_ count: Int, _ host: ConnectorHost) async throws -> [String] {
        var ids: [String] = []
        for _ in 1...count {
            let receipt = try await host.analytics("a").track("refuse")
            ids.append(receipt.id)
            await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        }
        return ids
    }

    private func content(_ address: PageAddress, _ model: HostConsoleModel) async -> PageContent {
        PageContent(address, .standard, await model.snapshot(for: [address.sceneRoute]))
    }

    private func scene(_ model: HostConsoleModel) async -> Scene { await content(PageAddress(.dead), model).scene }

    private func act(_ verb: ConsoleAct.Verb, _ scene: Scene) throws -> ConsoleAct {
        try #require(scene.acts.first { $0.verb == verb })
    }

    @Test func `one link after another leads to every dead letter, and a search finds one on a later page`()
        async throws
    {
        try await withHost { host, model in
            let ids = try await refused(RecordList.limit + 5, host)
            var (seen, next): ([String], Route?) = ([], .dead)
            while let route = next {
                let page = await content(PageAddress(route), model)
                #expect(page.pages == 1, "the link is the only way on")
                seen += page.scene.component("dead")?.rows.compactMap { $0.link?.parts.last } ?? []
                let links = page.scene.components.flatMap(\.rows).compactMap(\.link)
                next = links.first { $0.root == Route.dead.root }
                #expect(seen.count <= ids.count)
                if seen.count >= ids.count { #expect(next == nil) }
            }
            #expect(seen == ids)
            let last = try #require(ids.last)
            let found = await content(PageAddress(.dead, search: last.uppercased()), model)
            #expect(found.scene.component("dead")?.rows.map(\.link) == [.event(last)])
            #expect(found.scene.route == .dead && found.scene.acts.isEmpty)
            let none = await content(PageAddress(.dead, search: "no such text"), model)
            #expect(none.scene.text.contains("no dead letters contain \"no such text\""))
        }
    }

    @Test func `what a search has found is kept while the outbox says nothing new, for ten seconds at most`()
        async throws
    {
        try await withHost { host, _ in
            let clock = ManualHostClock()
            let model = HostConsoleModel(host, clock: clock)
            let route = Route.dead.searched(by: "track")
            func found() async -> Int? { await model.snapshot(for: [route]).records[route]?.records.count }
            var ids: [String] = []
            for count in [2, 3] {
                ids += try await refused(count - ids.count, host)
                while host.report["a"]?.outbox?.dead != count { try await Task.checkedYield() }
                #expect(await found() == count)
            }
            // Behind the host's back, so that its report stays the same.
            let engine = try #require(host.outbox.outbox.openEngine)
            #expect(try await engine.drop(RecordSelection(ids: [ids[0]], states: [.dead])) == 1)
            #expect(await found() == 3)
            clock.advance(by: .seconds(10))
            #expect(await found() == 2)
        }
    }

    @Test func `an act on every dead letter is bound to those that were shown`() async throws {
        try await withHost { host, model in
            _ = try await refused(2, host)
            let drop = try act(.drop, await scene(model))
            #expect(drop.question?.hasPrefix("Drop 2 dead letters?") == true)
            _ = try await refused(1, host)
            let refusal = await model.perform(drop)
            #expect(
                refusal.isFailure && refusal.code == .conflict && refusal.sentence.contains("the 2 that were shown")
            )
            #expect(try await host.deadLetters().count == 3)
            let shown = await scene(model)
            #expect(shown.act(drop.id) != nil, "a page that still has the button is told why it does nothing")
            let next = try act(.drop, shown)
            #expect(next.id != drop.id)
            #expect(await model.perform(next).sentence == "dropped 3 dead letters")
            #expect(try await host.deadLetters().isEmpty)
        }
    }

    @Test func `as many other letters are not those that were shown`() async throws {
        try await withHost { host, model in
            let ids = try await refused(2, host)
            let replay = try act(.replay, await scene(model))
            #expect(try await host.dropDeadLetters(ids: [ids[0]]) == 1)
            _ = try await refused(1, host)
            let refusal = await model.perform(replay)
            #expect(refusal.isFailure && refusal.code == .conflict)
            let next = try act(.replay, await scene(model))
            #expect(await model.perform(next).sentence == "replayed 2 dead letters")
        }
    }

    @Test(arguments: [ConsoleAct.Verb.replay, .drop])
    func `an act on a letter that is gone fails`(_ verb: ConsoleAct.Verb) async throws {
        try await withHost { host, model in
            let ids = try await refused(1, host)
            let row = try #require(await scene(model).component("dead")?.rows.first)
            let act = try #require(row.acts.first { $0.verb == verb })
            #expect(try await host.dropDeadLetters() == 1)
            let outcome = await model.perform(act)
            #expect(outcome.isFailure && outcome.code == .missing && outcome.sentence.contains(ids[0]))
        }
    }

    @Test(arguments: [ConsoleAct.Verb.replay, .drop])
    func `an act on what has no dead letters of its own is refused, and touches none`(_ verb: ConsoleAct.Verb)
        async throws
    {
        try await withHost { host, model in
            let ids = try await refused(2, host)
            let subjects: [(ConsoleAct.Subject, ConnectorError.Code)] = [
                (.operation("track", of: "a", [:], isDelivered: true), .unsupported), (.plan(nil), .unsupported),
                (.gate("nope"), .unknownConnector), (.gate(""), .unknownConnector),
            ]
            for (subject, code) in subjects {
                let outcome = await model.perform(ConsoleAct(verb, subject, title: "act"))
                #expect(outcome.isFailure && outcome.code == code, "\(outcome)")
            }
            #expect(try await host.deadLetters().map(\.id) == ids)
        }
    }

    @Test func `an act on a gate takes the letters of everything below it, and of nothing else`() async throws {
        let connectors = #"""
            [{"name": "a", "plugin": "deliveries"},
             {"name": "more", "policy": "all", "connectors": [{"name": "b", "plugin": "deliveries"}]}]
            """#
        let host = try ConnectorHost.testing(connectors, plugins: [Fixtures.contract("deliveries")])
        await host.open()
        _ = try await refused(1, host)
        let receipt = try await host.analytics("more").track("refuse")
        await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        let outcome = await HostConsoleModel(host).perform(ConsoleAct(.drop, .gate("more"), title: "drop"))
        #expect("\(outcome)" == "dropped 1 dead letter")
        #expect("\(ActOutcome("stored\n1", opening: .outbox))" == "stored 1; next: /outbox")
        #expect(try await host.deadLetters().map(\.connector) == ["a"])
        await host.close()
    }
}
