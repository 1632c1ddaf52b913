// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS
@testable import ConnectorOutboxSQLite

/// What every engine promises.
@Suite(.sharedNATSServers, .timeLimit(.minutes(5))) final class EngineTests {
    /// The engines, a new one for each test.
    enum Kind: CaseIterable {
        case memory, sqlite, nats, cluster

        /// The engines that this machine can run.
        static let usable = NATSServers.areInstalled ? allCases : [.memory, .sqlite]

        /// The engines that know each event per connector, whichever others have it.
        static let exact: [Self] = [.memory, .sqlite]

        /// Whether it remembers every attempt.
        var remembers: Bool { Self.exact.contains(self) }
        /// Whether it counts the bytes of each connector, instead of taking the average.
        var countsBytes: Bool { Self.exact.contains(self) }
    }

    private let folder: Folder
    let now = OutboxEvent.start

    init() throws {
        folder = try Folder()
    }

    func engine(_ kind: Kind) async throws -> any OutboxEngine {
        switch kind {
        case .memory: try await SQLiteEngine(now: { OutboxEvent.start })
        case .sqlite: try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }) { _, _ in }
        case .nats: try await natsEngine(1)
        case .cluster: try await natsEngine(3)
        }
    }

    private func natsEngine(_ count: Int) async throws -> NATSEngine {
        let paths = ["a", "b", "c"]
        let settings = try await SharedNATSServers.settings(count, paths)
        return try await NATSEngine(settings, paths: paths, now: { OutboxEvent.start })
    }

    func events(_ numbers: ClosedRange<Int>, bytes: Int = 20) -> [OutboxEvent] {
        numbers.map { .numbered($0, bytes: bytes) }
    }

    /// Stores events, and waits until they can be read: one server of three stores them, and another hands them out.
    ///
    /// - Returns: Which of them were new.
    @discardableResult
    func append(
        _ engine: any OutboxEngine,
        _ events: [OutboxEvent],
        to paths: [String]
    ) async throws -> [Bool] {
        let before = try await engine.statistics()
        let isNew = try await engine.append(events, to: paths).isApplied
        guard !(engine is SQLiteEngine) else { return isNew }
        let more = isNew.count { $0 }
        try await wait(engine) { statistics in
            paths.allSatisfy { (statistics[$0]?.queued ?? 0) >= (before[$0]?.queued ?? 0) + more }
        }
        return isNew
    }

    /// Waits until every server knows what another one has stored or deleted.
    func wait(_ engine: any OutboxEngine, until isKnown: ([String: QueueStatistics]) -> Bool) async throws {
        while true {
            if isKnown(try await engine.statistics()) { return }
            try await Task.checkedYield()
        }
    }

    func batch(_ engine: any OutboxEngine, _ path: String = "a", _ limits: BatchLimits = BatchLimits())
        async throws -> OutboxBatch
    {
        try await engine.batch(for: path, upTo: limits, now: now)
    }

    /// Settles a batch with one outcome for all.
    func settle(_ engine: any OutboxEngine, _ batch: OutboxBatch, _ outcome: DeliveryOutcome) async throws {
        let failure = outcome == .delivered ? nil : DeliveryFailure(.unavailable, "away")
        try await engine.settle(
            batch,
            batch.entries.map { _ in outcome },
            Attempt(at: now, failures: batch.entries.map { _ in failure })
        )
    }

    @Test(arguments: Kind.usable)
    func `whoever is to learn that events are stored learns it once, before the caller`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        let steps = Mutex<[OutboxStep]>([])
        let step = try await engine.append(events(1...2), to: ["a"]) { step in steps.withLock { $0.append(step) } }
        #expect(step.isApplied == [true, true])
        #expect(steps.withLock(\.self) == [step])
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `events come in the order of their arrival, to each connector at its own pace`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        #expect(try await append(engine, events(1...3), to: ["a", "b"]) == [true, true, true])
        try await append(engine, events(4...5), to: ["a"])
        try await append(engine, events(6...6), to: ["a", "b"])
        let first = try await batch(engine, "a", BatchLimits(count: 4))
        #expect(first.events == events(1...4))
        let payloads = events(1...4).map { String(decoding: $0.payload, as: UTF8.self) }.joined(separator: ",")
        #expect(String(decoding: first.json, as: UTF8.self) == "[\(payloads)]")
        #expect(first.part([3, 1]).events == [.numbered(4), .numbered(2)])
        #expect(
            try await batch(engine, "a", BatchLimits(count: 4)).entries.map(\.position) == first.entries.map(\.position)
        )
        try await settle(engine, first, .delivered)
        #expect(try await batch(engine).events == events(5...6))
        #expect(try await batch(engine, "b").entries.map(\.id) == ["event-1", "event-2", "event-3", "event-6"])
        #expect(try await batch(engine, "c").isEmpty)
        let statistics = try await engine.statistics()
        #expect(statistics["a"]?.queued == 2)
        #expect(statistics["a"]?.delivered == 4)
        #expect(statistics["a"]?.lastDelivered == now)
        #expect(statistics["b"]?.queued == 4)
        #expect(statistics["b"]?.oldest == now)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `an event whose id is stored is not stored again`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        #expect(try await append(engine, events(2...3), to: ["a"]) == [false, true])
        #expect(try await engine.statistics()["a"]?.queued == 3)
        try await settle(engine, try await batch(engine), .delivered)
        #expect(try await append(engine, events(3...3), to: ["a"]) == [false])
        #expect(try await batch(engine).isEmpty)
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `proving that events can be stored leaves every event alone, whatever its id`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        let events = ["proof", "", "\0"].map { id in
            OutboxEvent(id: id, kind: EventKind("analytics/1", "track"), createdAt: now, payload: Array("{}".utf8))
        }
        try await append(engine, events, to: ["a"])
        for _ in 1...2 { try await engine.prove() }
        #expect(try await batch(engine).events == events)
        #expect(try await engine.records(RecordSelection()).count == 3)
        #expect(try await engine.statistics()["a"]?.queued == 3)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a batch keeps to its limits and to one capability`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...10, bytes: 100), to: ["a"])
        try await append(engine, [.numbered(11, capability: "crash/1")], to: ["a"])
        #expect(try await batch(engine, "a", BatchLimits(count: 3)).entries.count == 3)
        #expect(try await batch(engine, "a", BatchLimits(bytes: 350)).entries.count == 3)
        #expect(try await batch(engine, "a", BatchLimits(bytes: 10)).entries.count == 1, "a large event travels alone")
        let analytics = try await batch(engine)
        #expect(analytics.entries.count == 10)
        try await settle(engine, analytics, .delivered)
        #expect(try await batch(engine).entries.map(\.kind.capability) == ["crash/1"])
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `no event overtakes one that did not fit, even if another connector gets it too`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...1, bytes: 100), to: ["a"])
        try await append(engine, events(2...2, bytes: 500), to: ["a"])
        try await append(engine, events(3...3), to: ["a", "b"])
        for number in 1...3 {
            let next = try await batch(engine, "a", BatchLimits(bytes: 350))
            #expect(next.entries.map(\.id) == ["event-\(number)"])
            #expect(next.isFull == (number < 3))
            try await settle(engine, next, .delivered)
        }
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `the events of concurrent callers are all stored`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        await withTaskGroup { group in
            for number in 1...200 {
                group.addTask {
                    _ = try? await engine.append([.numbered(number)], to: number % 2 == 0 ? ["a"] : ["a", "b"])
                }
            }
        }
        try await wait(engine) { $0["a"]?.queued == 200 && $0["b"]?.queued == 100 }
        #expect(Set(try await batch(engine).entries.map(\.id)).count == 200)
        #expect(try await batch(engine, "b").entries.count == 100)
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `a known event is new for a connector that it was not sent to`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        try await settle(engine, try await batch(engine), .delivered)
        for _ in 1...2 { #expect(try await append(engine, events(1...1), to: ["a", "b"]) == [false]) }
        #expect(try await batch(engine).isEmpty)
        let second = try await batch(engine, "b")
        #expect(second.events == events(1...1))
        #expect(try await engine.statistics()["b"]?.queued == 1)
        try await settle(engine, second, .delivered)
        try await append(engine, events(1...1), to: ["b"])
        #expect(try await engine.statistics()["b"]?.queued == 0)
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an id by which other connectors know another event is refused, and nothing is stored`(
        _ kind: Kind
    ) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        var (changed, renamed) = (OutboxEvent.numbered(1), OutboxEvent.numbered(1))
        changed.payload = Array("{}".utf8)
        renamed.kind.operation = "identify"
        for (event, paths) in [(changed, ["b"]), (changed, ["a", "b"]), (renamed, ["b"])] {
            let error = try await #require(throws: ConnectorError.self) {
                try await engine.append([.numbered(3), event], to: paths)
            }
            #expect(error.code == .conflict)
            #expect(error.message.contains("event-1"))
        }
        #expect(try await engine.statistics()["b"] == nil)
        // For a connector that has the event, it is a repetition.
        #expect(try await append(engine, [changed, renamed], to: ["a"]) == [false, false])
        #expect(try await batch(engine).events == events(1...2))
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an event sent again with a later timestamp is the same one, for a connector that lacks it, too`(
        _ kind: Kind
    ) async throws {
        let engine = try await engine(kind)
        var (first, again) = (OutboxEvent.numbered(1), OutboxEvent.numbered(1))
        first.payload = Array(#"{"event":"Seen","timestamp":"2026-01-01T00:00:00Z"}"#.utf8)
        again.payload = Array(#"{"event":"Seen","timestamp":"2026-01-01T00:00:01Z"}"#.utf8)
        try await append(engine, [first], to: ["a"])
        #expect(try await append(engine, [again], to: ["a", "b"]) == [false])
        #expect(try await batch(engine, "b").events == [first])
        let queue = try await engine.statistics()["b"]
        #expect(queue?.queued == 1 && queue?.bytes == first.payload.count && queue?.oldest == now)
        // It has not failed, so no attempt is the next one.
        #expect(try await engine.records(RecordSelection(paths: ["b"])).map(\.due) == [nil])
        await engine.close()
    }
}
