// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// How many waiting events have gone from a consumer, although other hosts settle some without saying so.
@Suite struct NATSBacklogTests {
    /// A host that reads the consumer of one connector.
    private final class Reader {
        var state = NATSEngine.State(slots: [:], created: [:], leases: [:])
        var consumer = NATSSchema.Consumer(
            path: "a",
            slot: 0,
            lease: 30_000_000_000,
            pending: 0,
            leased: 0,
            floor: 0,
            last: 0,
            created: OutboxEvent.start
        )

        var stream = NATSEngine.StreamState(last: 100, messages: 100)

        /// Reads the consumer.
        ///
        /// - Returns: How many events have gone.
        func read() -> Int {
            let gone = state.adopt(["a": consumer], of: stream, since: state.reading(at: 0), now: 0)
            return gone["a"] ?? 0
        }

        /// The server hands out events, to this host or to another one.
        func handOut(_ count: Int, toThisHost isOwn: Bool) {
            (consumer.pending, consumer.leased) = (consumer.pending - count, consumer.leased + count)
            let first = consumer.deliveries + 1
            consumer.deliveries += count
            guard isOwn else { return }
            state.noteReceived(count, at: "a", since: state.readings)
            let events = (first..<first + count).map { number in
                let entry = OutboxBatch.Entry(position: Int64(number), attempts: 0, event: .numbered(number))
                return NATSLeases.LeasedEvent(entry: entry, payload: [], reply: "reply \(number)", until: 1)
            }
            state.leases["a"]?.add(events)
        }

        /// An operator deletes everything.
        func purge() { (consumer.pending, consumer.leased, stream.messages) = (0, 0, 0) }
    }

    @Test func `events that an operator deletes are gone, whether or not a host has leased them`() {
        let reader = Reader()
        reader.consumer.pending = 20
        #expect(reader.read() == 0)
        reader.handOut(8, toThisHost: true)
        #expect(reader.read() == 0)
        reader.consumer.leased -= 1
        reader.consumer.pending -= 1
        reader.stream.messages -= 2
        #expect(reader.read() == 2)
        // The leases lapse meanwhile.
        reader.state.leases["a"] = NATSLeases(lease: 1)
        #expect(reader.read() == 0)
        reader.purge()
        #expect(reader.read() == 18)
        #expect(reader.read() == 0)
    }

    @Test func `events that another host settles are not gone, and those that it cannot have settled are`() {
        let reader = Reader()
        reader.consumer.pending = 20
        _ = reader.read()
        reader.handOut(8, toThisHost: false)
        reader.consumer.leased -= 5
        #expect(reader.read() == 0)
        // It may have settled the three that it had left.
        reader.purge()
        #expect(reader.read() == 12)
    }

    @Test func `events that a host settles which was away, after another one was handed them, are not gone`() {
        let reader = Reader()
        reader.consumer.pending = 20
        _ = reader.read()
        reader.handOut(8, toThisHost: true)
        _ = reader.read()
        reader.consumer.leased -= 8
        #expect(reader.read() == 0)
        reader.handOut(4, toThisHost: true)
        _ = reader.read()
        // Meanwhile one event is deleted.
        (reader.consumer.leased, reader.stream.messages) = (0, 99)
        #expect(reader.read() == 1)
    }

    @Test func `events that this host settles, drops or is about to are not gone`() {
        let reader = Reader()
        reader.consumer.pending = 20
        _ = reader.read()
        reader.handOut(8, toThisHost: true)
        _ = reader.read()
        let start = reader.state.reading(at: 0)
        reader.state.tallies["a"]?.begun += 5
        reader.consumer.leased -= 5
        let gone = reader.state.adopt(["a": reader.consumer], of: reader.stream, since: start, now: 0)
        #expect(gone.isEmpty)
        // The server may have answered before it had the acknowledgements.
        reader.state.tallies["a"]?.ended += 5
        #expect(reader.read() == 0)
        reader.state.tallies["a"]?.begun += 3
        reader.purge()
        #expect(reader.read() == 12)
    }

    @Test func `events that this host deletes are not gone, even if the consumer learns of it a reading later`() {
        let reader = Reader()
        reader.consumer.pending = 20
        _ = reader.read()
        reader.state.tallies["a", default: NATSBacklog.Tally()].begun += 5
        reader.state.tallies["a"]?.deleted += 5
        reader.stream.messages -= 5
        #expect(reader.read() == 0)
        reader.consumer.pending -= 5
        #expect(reader.read() == 0)
        // They explain nothing twice.
        reader.purge()
        #expect(reader.read() == 15)
    }

    @Test func `what waited at a deleted consumer is gone, whatever waits at the next one`() {
        let reader = Reader()
        reader.consumer.pending = 7
        _ = reader.read()
        // However long it was away.
        let absent = reader.state.adopt([:], since: reader.state.reading(at: 0), now: 0)
        #expect(absent.isEmpty)
        (reader.consumer.slot, reader.consumer.pending, reader.consumer.deliveries) = (1, 9, 0)
        #expect(reader.read() == 7)
        #expect(reader.read() == 0)
    }

    @Test func `what waited in a stream that was made again is gone, also if another server leads it`() {
        let reader = Reader()
        reader.consumer.leader = "one"
        reader.consumer.pending = 7
        _ = reader.read()
        (reader.consumer.pending, reader.consumer.leader) = (2, "two")
        (reader.stream.last, reader.stream.messages) = (2, 2)
        reader.consumer.created = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + 60_000_000_000)
        #expect(reader.read() == 5)
    }

    @Test func `a consumer whose server was away has lost nothing, though its time of creation differs`() {
        let reader = Reader()
        reader.consumer.leader = "one"
        reader.consumer.pending = 80
        _ = reader.read()
        // The other host delivers all; the new leader does not know how much it was handed out at last.
        reader.consumer.created = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + 41_000_000_000)
        reader.stream.messages = 20
        (reader.consumer.leader, reader.consumer.pending, reader.consumer.deliveries) = ("two", 0, 60)
        #expect(reader.read() == 0)
        reader.consumer.pending = 80
        _ = reader.read()
        // The same, without another leader.
        (reader.stream.last, reader.stream.messages) = (200, 20)
        reader.consumer.created = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + 90_000_000_000)
        (reader.consumer.pending, reader.consumer.deliveries) = (0, 140)
        #expect(reader.read() == 0)
    }

    @Test func `a reading that is overtaken by another one is not compared, nor are its counts known later`() {
        let reader = Reader()
        let start = reader.state.reading(at: 0)
        reader.consumer.pending = 20
        _ = reader.read()
        var old = reader.consumer
        old.pending = 5
        let gone = reader.state.adopt(["a": old], since: start, now: 0)
        #expect(gone.isEmpty)
        reader.purge()
        #expect(reader.read() == 20)
    }

    @Test func `counts that a server makes up do not trap`() {
        for (first, second) in [(Int.max, 0), (0, Int.max), (Int.max, Int.max)] {
            let reader = Reader()
            (reader.consumer.pending, reader.consumer.leased, reader.consumer.deliveries) = (first, first, first)
            _ = reader.read()
            reader.state.noteReceived(3, at: "a", since: reader.state.readings)
            (reader.consumer.pending, reader.consumer.leased, reader.consumer.deliveries) = (second, second, second)
            #expect(reader.read() >= 0)
        }
    }
}

/// Waiting events that are deleted on real servers.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSLossTests: NATSSuite {
    /// An engine, and a function that returns how many events it has said to be gone.
    private func watched(_ servers: NATSServers) async throws -> (NATSEngine, @Sendable () -> Int) {
        let losses = Losses()
        let engine = try await NATSEngine(
            servers.settings(),
            paths: ["a"],
            now: { OutboxEvent.start },
            onLoss: { _, count in losses.count.withLock { $0 += count } }
        )
        return (engine, { losses.count.withLock(\.self) })
    }

    private final class Losses: Sendable {
        let count = Mutex(0)
    }

    /// Waits until the server counts a number of waiting events.
    private func queued(_ count: Int, _ engine: NATSEngine) async throws {
        while try await engine.statistics()["a"]?.queued != count { try await Task.checkedYield() }
    }

    @Test func `a host says how many waiting events were deleted, alone or all at once`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let (engine, gone) = try await watched(servers)
        _ = try await engine.append((1...20).map { .numbered($0) }, to: ["a"])
        try await queued(20, engine)
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 8, bytes: 1 << 20), now: now)
        #expect(batch.entries.count == 8)
        try await queued(20, engine)
        for number in [3, 15] as [Int64] { _ = try await engine.jetStream.delete(number, of: "OUTBOX") }
        try await queued(18, engine)
        #expect(gone() == 2)
        _ = try await engine.jetStream.request("STREAM.PURGE.OUTBOX")
        try await queued(0, engine)
        #expect(gone() == 20)
        await engine.close()
    }

    @Test func `a host counts nothing that it or another one delivers or drops as gone`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let (first, firstGone) = try await watched(servers)
        let (second, secondGone) = try await watched(servers)
        let ids = (1...200).map { "event-\($0)" }
        _ = try await first.append((1...200).map { .numbered($0) }, to: ["a"])
        try await queued(200, first)
        try await queued(200, second)
        var delivered: [String] = []
        while delivered.count < 190 {
            for engine in [first, second] {
                let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 10, bytes: 1 << 20), now: now)
                guard delivered.count < 190, !batch.isEmpty else { continue }
                let attempt = Attempt(at: now, failures: batch.entries.map { _ in nil })
                try await engine.settle(batch, batch.entries.map { _ in .delivered }, attempt)
                delivered += batch.entries.map(\.id)
                // As a trim does, which is told from a loss.
                try await engine.jetStream.discard(batch.entries.map(\.position), of: "OUTBOX")
                for reader in [first, second] { _ = try await reader.version() }
            }
        }
        #expect(Set(delivered).isSubset(of: ids))
        #expect(try await first.drop(RecordSelection(paths: ["a"], states: [.queued])) == 200 - Set(delivered).count)
        try await queued(0, first)
        #expect(firstGone() == 0 && secondGone() == 0)
        await first.close()
        await second.close()
    }
}
