// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS
@testable import ConnectorOutboxSQLite

/// What every engine does with dead letters.
extension EngineTests {
    @Test(arguments: Kind.usable)
    func `dead letters are replayed and dropped, some or all`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...4), to: ["a", "b"])
        try await settle(engine, try await batch(engine), .dead)
        #expect(try await engine.replay(RecordSelection(paths: ["b"])) == 0)
        #expect(try await engine.replay(RecordSelection(ids: ["event-2"])) == 1)
        try await wait(engine) { $0["a"]?.queued == 1 }
        #expect(try await engine.drop(RecordSelection(ids: ["event-3"], states: [.dead])) == 1)
        #expect(try await batch(engine).entries.map(\.id) == ["event-2"])
        #expect(
            try await engine.records(RecordSelection(paths: ["a"], states: [.dead])).map(\.event.id) == [
                "event-1", "event-4",
            ]
        )
        #expect(try await engine.replay(RecordSelection()) == 2)
        try await wait(engine) { $0["a"]?.queued == 3 }
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.dead, queue.dropped) == (3, 0, 1))
        #expect(try await batch(engine, "b").entries.count == 4, "another connector's events are its own")
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `letters of connectors to which nobody delivers stay, and the replay says so`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a", "b"])
        try await settle(engine, try await batch(engine), .dead)
        try await settle(engine, try await batch(engine, "b"), .dead)
        let one = RecordSelection(paths: ["a", "b"], ids: ["event-1"])
        let (count, left) = try await engine.replay(one, among: ["b", "c"])
        #expect(count == 1 && left?.code == .unknownConnector && left?.connector == "a")
        #expect(left?.message.hasPrefix("1 dead letter stays, ") == true, "\(left?.message ?? "")")
        try await wait(engine) { $0["b"]?.queued == 1 }
        let rest = try await engine.replay(RecordSelection(), among: ["b", "c"])
        #expect(rest.count == 1 && rest.left?.message.hasPrefix("2 dead letters stay, ") == true)
        try await wait(engine) { $0["b"]?.queued == 2 }
        let all = try await engine.replay(RecordSelection(), among: ["a", "b"])
        #expect(all.count == 2 && all.left == nil)
        try await wait(engine) { $0["a"]?.queued == 2 }
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a replayed event is renewed, and a fresh one is not`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        let fresh = try await batch(engine)
        #expect(fresh.entries.map(\.renewedAt) == [nil, nil])
        try await settle(engine, fresh, .dead)
        #expect(try await engine.replay(RecordSelection()) == 2)
        try await wait(engine) { $0["a"]?.queued == 2 }
        let again = try await batch(engine)
        #expect(again.entries.count == 2)
        #expect(again.entries.allSatisfy { $0.renewedAt.map { $0.nanoseconds >= now.nanoseconds } ?? false })
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `dead letters are replayed to another connector once, with their ids`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...3), to: ["a", "b"])
        try await settle(engine, try await batch(engine), .dead)
        let some = RecordSelection(paths: ["a"], ids: ["event-1", "event-2"])
        #expect(try await engine.replay(some, to: "c").count == 2)
        try await wait(engine) { $0["c"]?.queued == 2 }
        #expect(try await batch(engine, "c").events == events(1...2))
        let dead = try await engine.records(RecordSelection(states: [.dead]))
        #expect(dead.map(\.path) == ["a"] && dead.map(\.event.id) == ["event-3"])
        #expect(try await engine.replay(RecordSelection(), to: "c").count == 1)
        try await wait(engine) { $0["c"]?.queued == 3 }
        #expect(try await engine.replay(RecordSelection(), to: "c").count == 0)
        #expect(try await batch(engine, "b").entries.count == 3, "another connector's events are its own")
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a dead letter that a second connector refuses as well can go back to the first one`(_ kind: Kind)
        async throws
    {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        try await settle(engine, try await batch(engine), .dead)
        for path in ["c", "a"] {
            #expect(try await engine.replay(RecordSelection(), to: path).count == 2)
            try await wait(engine) { $0[path]?.queued == 2 }
            let replayed = try await batch(engine, path)
            #expect(replayed.events == events(1...2))
            #expect(replayed.entries.allSatisfy { $0.renewedAt != nil })
            try await settle(engine, replayed, .dead)
        }
        #expect(try await engine.replay(RecordSelection()) == 2)
        try await wait(engine) { $0["a"]?.queued == 2 }
        try await settle(engine, try await batch(engine), .delivered)
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.bytes, queue.dead, queue.delivered) == (0, 0, 0, 2))
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `an event that is a dead letter at the other connector, too, is queued there once`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a", "b"])
        try await settle(engine, try await batch(engine), .dead)
        try await settle(engine, try await batch(engine, "b"), .dead)
        let (count, left) = try await engine.replay(RecordSelection(), to: "b")
        #expect(count == 2 && left == nil)
        try await wait(engine) { $0["b"]?.queued == 2 }
        #expect(Set(try await batch(engine, "b").entries.map(\.id)) == ["event-1", "event-2"])
        #expect(try await engine.records(RecordSelection(states: [.dead])).isEmpty)
        let queue = try #require(try await engine.statistics()["b"])
        #expect((queue.queued, queue.dead) == (2, 0))
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `a letter whose event the other connector has delivered stays, and the replay says so`(_ kind: Kind)
        async throws
    {
        let engine = try await engine(kind)
        try await append(engine, events(1...3), to: ["a", "b"])
        try await settle(engine, try await batch(engine), .dead)
        try await settle(engine, try await batch(engine, "b", BatchLimits(count: 1)), .delivered)
        let (count, left) = try await engine.replay(RecordSelection(), to: "b")
        #expect(count == 2 && left?.code == .conflict)
        #expect(left?.message == "1 dead letter stays, as b has delivered the event before")
        #expect(try await engine.statistics()["b"]?.queued == 2, "those that waited there wait there once")
        let dead = try await engine.records(RecordSelection(states: [.dead]))
        #expect(dead.map(\.path) == ["a"] && dead.map(\.event.id) == ["event-1"])
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `letters of events that the other connector does not take stay, and the replay says so`(_ kind: Kind)
        async throws
    {
        let engine = try await engine(kind)
        try await append(engine, [.numbered(1), .numbered(2, capability: "crash/1")], to: ["a"])
        for _ in 1...2 { try await settle(engine, try await batch(engine), .dead) }
        let (count, left) = try await engine.replay(RecordSelection(), to: "b") { kind in
            kind.capability == "crash/1" ? ConnectorError(.unsupported, "b takes no reports") : nil
        }
        #expect(count == 1 && left?.code == .unsupported)
        #expect(left?.message == "1 dead letter stays, as b takes no reports")
        try await wait(engine) { $0["b"]?.queued == 1 }
        #expect(try await batch(engine, "b").entries.map(\.id) == ["event-1"])
        #expect(try await engine.records(RecordSelection(states: [.dead])).map(\.event.id) == ["event-2"])
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `thousands of dead letters are replayed and dropped`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2500), to: ["a"])
        for _ in 1...5 { try await settle(engine, try await batch(engine), .dead) }
        #expect(try await engine.statistics()["a"]?.dead == 2500)
        #expect(try await engine.replay(RecordSelection(limit: 1200)) == 1200)
        #expect(try await engine.statistics()["a"]?.queued == 1200)
        #expect(try await engine.drop(RecordSelection()) == 2500)
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.dead, queue.bytes, queue.dropped) == (0, 0, 0, 2500))
        #expect(try await engine.replay(RecordSelection()) == 0)
        await engine.close()
    }
}
