// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// What engines remember, and list.
extension EngineTests {
    @Test(arguments: Kind.usable)
    func `events that every connector has are forgotten in time, except for dead letters`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...12_500), to: ["a"])
        let first = try await batch(engine, "a", BatchLimits(count: 1))
        try await settle(engine, first, .dead)
        while true {
            let next = try await batch(engine)
            if next.isEmpty { break }
            try await settle(engine, next, .delivered)
        }
        await (engine as? NATSEngine)?.state.withLock(\.trimming)?.value
        let records = try await engine.records(RecordSelection())
        #expect((kind.remembers ? 10_001...11_001 : 1001...2001).contains(records.count))
        #expect(records.first?.event.id == "event-1")
        #expect(records.first?.state == .dead)
        #expect(try await engine.replay(RecordSelection()) == 1)
        try await wait(engine) { $0["a"]?.queued == 1 }
        try await settle(engine, try await batch(engine), .delivered)
        // With NATS it came last again; elsewhere it kept its position, beyond what is remembered.
        let replayed = try await engine.records(RecordSelection(ids: ["event-1"]))
        #expect(replayed.map(\.state) == (kind.remembers ? [] : [.delivered]))
        #expect(try await engine.statistics()["a"]?.delivered == 12_500)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a list continues after a cursor, whatever comes and goes meanwhile`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...25), to: ["a"])
        try await settle(engine, try await batch(engine), .dead)
        var (seen, place, pages) = ([String](), RecordCursor?.none, 0)
        repeat {
            let selection = RecordSelection(states: [.dead], limit: 10, after: place)
            let records = try await engine.records(selection)
            #expect(records.count <= 10)
            seen += records.map(\.event.id)
            place = records.next(limit: 10)
            pages += 1
            if pages == 1 {
                // One that was seen, the one of the cursor, and one still to come are dropped; a new one is added.
                let last = try #require(records.last?.event.id)
                #expect(try await engine.drop(RecordSelection(ids: ["event-1", last, "event-17"])) == 3)
                try await append(engine, events(26...26), to: ["a"])
                try await settle(engine, try await batch(engine), .dead)
            }
        } while place != nil && pages < 10
        #expect(pages == 3)
        #expect(Set(seen).count == seen.count, "none is seen twice")
        #expect(Set(seen) == Set((1...26).map { "event-\($0)" }).subtracting(["event-17"]))
        let end = RecordCursor(time: .max, position: .max, path: "a")
        #expect(try await engine.records(RecordSelection(states: [.dead], after: end)).isEmpty)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a list of waiting events can continue between two connectors of one event`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...4), to: ["a", "b"])
        var (seen, place) = ([String](), RecordCursor?.none)
        repeat {
            let records = try await engine.records(RecordSelection(states: [.queued], limit: 3, after: place))
            seen += records.map { "\($0.event.id) \($0.path)" }
            place = records.next(limit: 3)
        } while place != nil && seen.count < 20
        #expect(seen == (1...4).flatMap { ["event-\($0) a", "event-\($0) b"] })
        await engine.close()
    }
}
