// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Dead letters on NATS servers.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSDeadLetterTests: NATSSuite {
    @Test func `a letter of a stream that was deleted neither replaces nor hides an event at the same position`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let attempt = Attempt(at: now, failures: [DeliveryFailure(.invalid, "no")])
        _ = try await engine.append([.numbered(1)], to: ["a"])
        let first = try await batch(engine)
        try await engine.settle(first, [.dead], attempt)
        // The host takes note of what the server knows to be settled.
        _ = try await engine.version()
        _ = try await engine.jetStream.request("STREAM.DELETE.OUTBOX")
        _ = try await servers.migrate(["a"])
        _ = try await engine.append([.numbered(2)], to: ["a"])
        let second = try await batch(engine)
        #expect(second.entries.map(\.position) == first.entries.map(\.position))
        #expect(try await engine.records(RecordSelection(states: [.queued])).map(\.event.id) == ["event-2"])
        try await engine.settle(second, [.dead], attempt)
        let letters = try await engine.records(RecordSelection(states: [.dead]))
        #expect(letters.map(\.event.id).sorted() == ["event-1", "event-2"])
        await engine.close()
    }

    @Test func `a letter is put back soon after another one that had its number in a deleted stream`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let attempt = Attempt(at: now, failures: [DeliveryFailure(.invalid, "no")])
        _ = try await engine.append([.numbered(1)], to: ["a"])
        for _ in 1...2 {
            try await engine.settle(try await batch(engine), [.dead], attempt)
            #expect(try await engine.replay(RecordSelection()) == 1)
            #expect(try await engine.records(RecordSelection(states: [.queued])).map(\.event.id) == ["event-1"])
            _ = try await engine.jetStream.request("STREAM.DELETE.OUTBOX-dead")
            _ = try await servers.migrate(["a"])
        }
        await engine.close()
    }

    @Test func `a message that is not one JSON value becomes a dead letter, and the events around it arrive`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let damaged = zip(["", " ", "{},{}"], 2...).map { text, number in
            OutboxEvent(
                id: "event-\(number)",
                kind: EventKind("analytics/1", "track"),
                createdAt: OutboxEvent.start,
                payload: Array(text.utf8)
            )
        }
        _ = try await engine.append([.numbered(1)] + damaged + [.numbered(5)], to: ["a"])
        var (delivered, dead): ([String], [String]) = ([], [])
        while delivered.count + dead.count < 5 {
            let next = try await batch(engine)
            let damage = next.damage
            let outcome: DeliveryOutcome = damage == nil ? .delivered : .dead
            let attempt = Attempt(at: now, failures: next.entries.map { _ in damage })
            try await engine.settle(next, next.entries.map { _ in outcome }, attempt)
            if damage == nil { delivered += next.entries.map(\.id) } else { dead += next.entries.map(\.id) }
        }
        #expect(delivered == ["event-1", "event-5"])
        #expect(dead == ["event-2", "event-3", "event-4"])
        let letters = try await engine.records(RecordSelection(states: [.dead]))
        #expect(letters.map(\.event.payload) == damaged.map(\.payload))
        #expect(letters.map { $0.attempts.last?.failure?.code } == [.storage, .storage, .storage])
        await engine.close()
    }

    @Test func `a letter without a payload stays when letters are replayed, and the replay says so`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"])
        let engine = try await engine(servers)
        var empty = OutboxEvent.numbered(1)
        empty.payload = []
        _ = try await engine.append([empty, .numbered(2)], to: ["a"])
        for _ in 1...2 {
            let next = try await batch(engine)
            #expect(next.entries.count == 1)
            try await engine.settle(next, [.dead], Attempt(at: now, failures: [DeliveryFailure(.invalid, "no")]))
        }
        let (count, left) = try await engine.replay(RecordSelection(), among: ["a", "b"])
        #expect(count == 1 && left?.code == .tooLarge)
        #expect(left?.message.hasPrefix("1 dead letter stays, ") == true)
        #expect(try await batch(engine).entries.map(\.id) == ["event-2"])
        let moved = try await engine.replay(RecordSelection(), to: "b")
        #expect(moved.count == 0 && moved.left?.code == .tooLarge)
        #expect(try await engine.records(RecordSelection(states: [.dead])).map(\.event.id) == ["event-1"])
        await engine.close()
    }

    @Test func `the letters of a connector without a consumer stay and are counted, and those of others are replayed`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"])
        let engine = try await engine(servers)
        let attempt = Attempt(at: now, failures: [DeliveryFailure(.invalid, "no")])
        _ = try await engine.append([.numbered(1)], to: ["a", "b"])
        try await engine.settle(try await batch(engine), [.dead], attempt)
        try await engine.settle(try await batch(engine, "b"), [.dead], attempt)
        _ = try await engine.jetStream.request("CONSUMER.DELETE.OUTBOX.a")
        let queue = try await engine.statistics()["a"]
        #expect(queue?.dead == 1 && queue?.queued == 0)
        let (count, left) = try await engine.replay(RecordSelection(), among: ["a", "b"])
        #expect(count == 1 && left?.code == .unknownConnector && left?.connector == "a")
        #expect(left?.message == "1 dead letter stays, as the outbox has no queue for a")
        #expect(try await batch(engine, "b").entries.map(\.id) == ["event-1"])
        #expect(try await engine.records(RecordSelection(states: [.dead])).map(\.path) == ["a"])
        await engine.close()
    }

    @Test func `two hosts that bring dead letters to another connector at one time store each event once`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"])
        let (first, second) = (try await engine(servers), try await engine(servers))
        _ = try await first.append((1...12).map { .numbered($0) }, to: ["a"])
        while try await first.statistics()["a"]?.queued != 12 { try await Task.checkedYield() }
        let taken = try await first.batch(for: "a", upTo: BatchLimits(), now: now)
        let failures = taken.entries.map { _ in DeliveryFailure?.some(DeliveryFailure(.invalid, "no")) }
        try await first.settle(taken, taken.entries.map { _ in .dead }, Attempt(at: now, failures: failures))
        async let one = first.replay(RecordSelection(), to: "b")
        async let two = second.replay(RecordSelection(), to: "b")
        let counts = try await (one, two)
        #expect(counts.0.count + counts.1.count == 12)
        let queued = try await first.records(RecordSelection(paths: ["b"], states: [.queued]))
        #expect(queued.map(\.event.id).sorted() == (1...12).map { "event-\($0)" }.sorted())
        await first.close()
        await second.close()
    }
}
