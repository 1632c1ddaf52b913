// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// What NATS adds to what every engine promises: other hosts, and servers that die.
@Suite(.enabled(if: NATSServers.areInstalled), .timeLimit(.minutes(3))) struct NATSEngineTests {
    private let now = OutboxEvent.start

    private func engine(_ servers: NATSServers, _ paths: [String] = ["a", "b"]) async throws -> NATSEngine {
        try await NATSEngine(servers.settings(), paths: paths, now: { OutboxEvent.start })
    }

    /// Delivers everything, and returns the ids, repetitions included.
    private func drain(_ engine: NATSEngine, _ path: String, until count: Int) async throws -> [String] {
        var ids: [String] = []
        let deadline = engine.jetStream.clock.now() + 120_000_000_000
        while Set(ids).count < count {
            guard engine.jetStream.clock.now() < deadline, !Task.isCancelled else {
                let consumer = try await engine.jetStream.request("CONSUMER.INFO.OUTBOX.\(NATSLayout.token(path))")
                let stream = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
                Issue.record("only \(ids): \(consumer): \(stream)")
                return ids
            }
            let batch = try await engine.batch(for: path, upTo: BatchLimits(), now: now)
            let attempt = Attempt(at: now, failures: batch.entries.map { _ in nil })
            try await engine.settle(batch, batch.entries.map { _ in .delivered }, attempt)
            ids += batch.entries.map(\.id)
        }
        return ids
    }

    @Test func `events that every connector has settled leave the stream, except for the last thousand`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b", "c"])
        let engine = try await engine(servers, ["a", "b", "c"])
        func stored() async throws -> Int64? {
            await engine.state.withLock(\.trimming)?.value
            return try await engine.jetStream.request("STREAM.INFO.OUTBOX")["state"]?["messages"]?.integer
        }
        // Connector c never had an event, and holds up nothing.
        _ = try await engine.append((1...3000).map { .numbered($0) }, to: ["a", "b"])
        #expect(try await drain(engine, "a", until: 3000).count == 3000)
        #expect(try await stored() == 3000)
        _ = try await engine.batch(for: "b", upTo: BatchLimits(count: 1), now: now)
        #expect(try await drain(engine, "b", until: 2500).count == 2500)
        #expect(try await stored() == 1000)
        // A waiting event holds up the others, also those that came after it.
        _ = try await engine.append([.numbered(4000)], to: ["c"])
        _ = try await engine.append((4001...6000).map { .numbered($0) }, to: ["a"])
        #expect(try await drain(engine, "a", until: 2000).count == 2000)
        #expect(try await drain(engine, "b", until: 500).count == 500)
        #expect(try await stored() == 2001)
        #expect(try await drain(engine, "c", until: 1) == ["event-4000"])
        await engine.close()
    }

    @Test func `a missing consumer or a differing stream is an error, and neither is created silently`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        #expect(try await servers.migrate(["a"]) == [])
        let missing = await #expect(throws: ConnectorError.self) { try await engine(servers) }
        #expect(missing?.code == .missing)
        #expect(missing?.message.contains("b") == true)
        #expect(try await servers.migrate(["a", "b"]) == ["created the consumer of b"])
        var settings = servers.settings()
        settings.replicas = 3
        let other = await #expect(throws: ConnectorError.self) {
            try await NATSEngine(settings, paths: [], now: { OutboxEvent.start })
        }
        #expect(other?.code == .conflict)
    }

    /// The next events of a connector, as soon as the server hands them out.
    private func batch(_ engine: NATSEngine, _ path: String = "a") async throws -> OutboxBatch {
        while true {
            let batch = try await engine.batch(for: path, upTo: BatchLimits(), now: now)
            guard batch.isEmpty else { return batch }
            await Task.yield()
        }
    }

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

    @Test func `a batch of a stream that was deleted settles no event of the next stream`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        _ = try await engine.append([.numbered(1)], to: ["a"])
        let old = try await batch(engine)
        _ = try await engine.jetStream.request("STREAM.DELETE.OUTBOX")
        _ = try await servers.migrate(["a"])
        _ = try await engine.version()
        try await engine.settle(old, [.delivered], Attempt(at: now, failures: [nil]))
        _ = try await engine.append([.numbered(2)], to: ["a"])
        let records = try await engine.records(RecordSelection())
        #expect(records.map(\.event.id) == ["event-2"])
        #expect(records.map(\.state) == [.queued])
        let next = try await batch(engine)
        #expect(next.entries.map(\.id) == ["event-2"])
        #expect(next.entries.map(\.position) == old.entries.map(\.position))
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

    @Test func `a program drops and moves only what no host has taken or delivered, and leaves other connectors alone`()
        async throws
    {
        let servers = try await NATSServers()
        let paths = ["a", "b", "c"]
        _ = try await servers.migrate(paths)
        let (first, second) = (try await engine(servers, paths), try await engine(servers, paths))
        let program = try await engine(servers, paths)
        func append(_ numbers: ClosedRange<Int>, until queued: Int) async throws {
            _ = try await first.append(numbers.map { .numbered($0) }, to: ["a", "b"])
            while try await first.statistics()["a"]?.queued != queued { await Task.yield() }
        }
        try await append(1...5, until: 5)
        let held = try await second.batch(for: "a", upTo: BatchLimits(count: 1), now: now)
        #expect(held.entries.map(\.id) == ["event-1"])
        let rest = try await first.batch(for: "a", upTo: BatchLimits(), now: now)
        #expect(rest.entries.count == 4)
        let attempt = Attempt(at: now, failures: rest.entries.map { _ in nil })
        try await first.settle(rest, rest.entries.map { _ in .delivered }, attempt)
        try await append(6...6, until: 2)
        #expect(try await program.drop(RecordSelection(paths: ["a"], states: [.queued])) == 1)
        try await append(7...7, until: 2)
        #expect(try await program.reassign("a", to: "c"))
        #expect(try await drain(first, "c", until: 1) == ["event-7"])
        #expect(try await first.batch(for: "c", upTo: BatchLimits(), now: now).isEmpty)
        let others = try await first.batch(for: "b", upTo: BatchLimits(), now: now)
        #expect(others.entries.map(\.position) == Array(1...Int64(7)))
        for engine in [first, second, program] { await engine.close() }
    }

    @Test func `two hosts that bring dead letters to another connector at one time store each event once`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"])
        let (first, second) = (try await engine(servers), try await engine(servers))
        _ = try await first.append((1...12).map { .numbered($0) }, to: ["a"])
        while try await first.statistics()["a"]?.queued != 12 { await Task.yield() }
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

    @Test func `programs that create consumers at one time give each connector a slot of its own`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate([])
        for round in 1...20 {
            async let one = servers.migrate(["a\(round)", "both\(round)"])
            async let two = servers.migrate(["b\(round)", "both\(round)"])
            _ = try await (one, two)
        }
        let engine = try await engine(servers, ["a1", "b1", "both1"])
        #expect(try await engine.schema.consumers().count == 60)
        await engine.close()
    }

    @Test func `consumers are added to a stream with more replicas than the file asks for, which keeps them`()
        async throws
    {
        let servers = try await NATSServers(3)
        _ = try await servers.migrate(["a"])
        var settings = servers.settings()
        settings.replicas = 1
        let done = try await NATSEngine.migrate(settings, paths: ["a", "b"], changesStreams: false)
        #expect(done == ["created the consumer of b"])
        let engine = try await NATSEngine(settings, paths: ["a", "b"], now: { OutboxEvent.start })
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        #expect(info["config"]?["num_replicas"]?.integer == 3)
        await engine.close()
    }

    @Test func `an event that one host dropped to make room is not shown as delivered by another`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let (first, second) = (try await engine(servers, ["a"]), try await engine(servers, ["a"]))
        _ = try await first.append([.numbered(1), .numbered(2)], to: ["a"])
        while try await first.statistics()["a"]?.queued != 2 { await Task.yield() }
        #expect(try await first.dropOldest(10, of: "a") == ["event-1"])
        #expect(try await second.records(RecordSelection()).map(\.event.id) == ["event-2"])
        #expect(try await first.records(RecordSelection(ids: ["event-1"])).map(\.state) == [.dropped])
        await first.close()
        await second.close()
    }

    @Test func `the events of a deleted consumer go to no other connector, and migrate says that they are left`()
        async throws
    {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"])
        let engine = try await engine(servers)
        _ = try await engine.append([.numbered(1)], to: ["b"])
        _ = try await engine.jetStream.request("CONSUMER.DELETE.OUTBOX.b")
        let done = try await servers.migrate(["a", "c"])
        #expect(done.first == "created the consumer of c")
        #expect(done.last?.hasPrefix("warning: 1 event is stored for connectors whose consumers were deleted") == true)
        let consumers = try await engine.schema.consumers()
        #expect(consumers["c"]?.slot == 2 && consumers["c"]?.pending == 0)
        #expect(try await servers.migrate(["a", "c"]) == [])
        await engine.close()
    }

    @Test func `each of 65 servers is tried`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        var settings = servers.settings()
        // Nothing listens at the others.
        let urls = Array(repeating: "nats://127.0.0.1:1", count: 64) + [settings.url]
        settings.url = urls.joined(separator: ",")
        let engine = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
        _ = try await engine.append([.numbered(1)], to: ["a"])
        await engine.close()
    }

    @Test func `events that short-lived hosts have settled leave the stream, too`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let first = try await engine(servers, ["a"])
        _ = try await first.append((1...1900).map { .numbered($0) }, to: ["a"])
        func deliver(_ engine: NATSEngine) async throws {
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 950, bytes: 1 << 20), now: now)
            #expect(batch.entries.count == 950)
            let attempt = Attempt(at: now, failures: batch.entries.map { _ in nil })
            try await engine.settle(batch, batch.entries.map { _ in .delivered }, attempt)
            await engine.state.withLock(\.trimming)?.value
            await engine.close()
        }
        try await deliver(first)
        try await deliver(try await engine(servers, ["a"]))
        let last = try await engine(servers, ["a"])
        let info = try await last.jetStream.request("STREAM.INFO.OUTBOX")
        #expect(info["state"]?["messages"]?.integer == 1000)
        await last.close()
    }

    @Test(arguments: ["max_age", "max_msgs_per_subject"])
    func `a stream that would delete waiting events is refused`(_ setting: String) async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        var config = try #require(info["config"]?.object)
        config[setting] = 3_600_000_000_000
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        await engine.close()
        let error = await #expect(throws: ConnectorError.self) { try await self.engine(servers, ["a"]) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains(setting) == true)
    }

    @Test func `a stream that is changed under a host is reported, until it is right again`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        var config = try #require(info["config"]?.object)
        config["max_age"] = 3_600_000_000_000
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        let error = await #expect(throws: ConnectorError.self) {
            for _ in 1...10 { try await engine.check(["a"]) }
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("max_age") == true)
        await #expect(throws: ConnectorError.self) { try await engine.check(["a"]) }
        config["max_age"] = 0
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        try await engine.check(["a"])
        await engine.close()
    }

    @Test func `settled events make room in a full stream, and waiting ones stay`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        let info = try await engine.jetStream.request("STREAM.INFO.OUTBOX")
        var config = try #require(info["config"]?.object)
        config["max_bytes"] = 100_000
        _ = try await engine.jetStream.request("STREAM.UPDATE.OUTBOX", .object(config))
        for number in 1...30 {
            #expect(try await engine.append([.numbered(number, bytes: 10_000)], to: ["a"]).isApplied == [true])
            try await engine.settle(try await batch(engine), [.delivered], Attempt(at: now, failures: [nil]))
        }
        var stored: [String] = []
        var failure: ConnectorError?
        while failure == nil, stored.count < 30 {
            let event = OutboxEvent.numbered(100 + stored.count, bytes: 10_000)
            do throws(ConnectorError) {
                _ = try await engine.append([event], to: ["a"])
                stored.append(event.id)
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .storage && failure?.isRetryable == true)
        #expect(failure?.fix?.contains("max_bytes") == true)
        #expect(!stored.isEmpty)
        #expect(try await drain(engine, "a", until: stored.count) == stored)
        await engine.close()
    }

    @Test func `a stream is refused to another application, by migrate and by its hosts`() async throws {
        let servers = try await NATSServers()
        var settings = servers.settings()
        settings.application = "shop-a"
        _ = try await servers.migrate(["a"], settings)
        for name in ["shop-a", nil] {
            settings.application = name
            try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start }).close()
        }
        settings.application = "shop-b"
        let other = settings
        let migration = await #expect(throws: ConnectorError.self) {
            try await NATSEngine.migrate(other, paths: ["a"])
        }
        let opening = await #expect(throws: ConnectorError.self) {
            try await NATSEngine(other, paths: ["a"], now: { OutboxEvent.start })
        }
        for error in [migration, opening] {
            #expect(error?.code == .conflict)
            #expect(error?.message.contains("that of the application \"shop-a\"") == true)
            #expect(error?.fix?.contains("another \"stream\"") == true)
        }
    }

    @Test func `a consumer with which an operator looks at the events is not taken for a connector's`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        _ = try await engine.jetStream.request(
            "CONSUMER.DURABLE.CREATE.OUTBOX.audit",
            [
                "stream_name": "OUTBOX",
                "config": ["durable_name": "audit", "filter_subject": "OUTBOX.e.1.>", "ack_policy": "none"],
            ]
        )
        #expect(try await engine.consumers().keys.sorted() == ["a"])
        #expect(try await engine.append([.numbered(1)], to: ["a"]).isApplied == [true])
        await engine.close()
    }

    @Test func `a consumer that would give up on an event is refused`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a"])
        let engine = try await engine(servers, ["a"])
        var config = engine.layout.consumer("b", slot: 1, lease: 30_000_000_000)
        config["max_deliver"] = 3
        _ = try await engine.jetStream.request(
            "CONSUMER.DURABLE.CREATE.OUTBOX.b",
            ["stream_name": "OUTBOX", "config": .object(config)]
        )
        let error = await #expect(throws: ConnectorError.self) { try await engine.version() }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("max_deliver") == true)
        await engine.close()
    }

    @Test func `hosts share the work, and take over from one that dies`() async throws {
        let servers = try await NATSServers()
        _ = try await servers.migrate(["a", "b"], lease: .seconds(1))
        let (first, second) = (try await engine(servers), try await engine(servers))
        _ = try await first.append((1...10).map { .numbered($0) }, to: ["a", "b"])
        let mine = try await first.batch(for: "a", upTo: BatchLimits(count: 4), now: now)
        #expect(mine.entries.count == 4)
        let others = try await second.batch(for: "a", upTo: BatchLimits(), now: now)
        #expect(others.entries.map(\.id) == (5...10).map { "event-\($0)" })
        try await second.settle(
            others,
            others.entries.map { _ in .delivered },
            Attempt(at: now, failures: others.entries.map { _ in nil })
        )
        // It ends without telling the servers.
        await first.jetStream.connection.close()
        #expect(Set(try await drain(second, "a", until: 4)) == Set((1...4).map { "event-\($0)" }))
        #expect(Set(try await drain(second, "b", until: 10)).count == 10)
        await second.close()
    }

    @Test func `one of three servers may die without losing an event`() async throws {
        let servers = try await NATSServers(3)
        _ = try await servers.migrate(["a", "b"])
        let engine = try await engine(servers)
        for dying in 0..<3 {
            for number in 1...20 { _ = try await engine.append([.numbered(100 * dying + number)], to: ["a", "b"]) }
            servers.kill(dying)
            for number in 21...40 { _ = try await engine.append([.numbered(100 * dying + number)], to: ["a", "b"]) }
            try servers.start(dying)
            try await servers.whole()
        }
        #expect(Set(try await drain(engine, "a", until: 120)).count == 120)
        #expect(Set(try await drain(engine, "b", until: 120)).count == 120)
        await engine.close()
    }

    /// An isolated leader notes the id of a message that it cannot store, and answers a repetition as if it had stored it.
    @Test(.enabled(if: NetworkNamespaces.arePossible))
    func `an event sent to a leader that has lost its followers is stored by the next leader`() async throws {
        let network = try NetworkNamespaces(3)
        let servers = try await NATSServers(3, in: network)
        _ = try await servers.migrate(["a"])
        try await servers.whole()
        let leader = try #require(servers.leader())
        var settings = servers.settings()
        settings.url = "nats://\(network.address(leader)):4222"
        let engine = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
        try network.isolate(leader)
        async let stored: Void = {
            // As an application does when the outcome is unknown.
            while true {
                do throws(ConnectorError) {
                    _ = try await engine.append([.numbered(1)], to: ["a"])
                    return
                } catch {
                    try #require(error.code == .storage)
                }
            }
        }()
        try await servers.leads(otherThan: leader)
        try network.readmit(leader)
        try await stored
        let other = try await self.engine(servers, ["a"])
        #expect(Set(try await drain(other, "a", until: 1)) == ["event-1"])
        await other.close()
        await engine.close()
    }
}
