// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// What a host knows of its stream and consumers, at its start and later.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSKnowledgeTests {
    @Test(arguments: [true, false])
    func `a host notices that its stream or consumer is gone while nothing waits, and that it is back`(
        isStream: Bool
    ) async throws {
        let store = FakeJetStream(["a"])
        let isGone = Mutex(false)
        var answers = FakeNATSServer.Answers()
        answers.answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST."), isGone.withLock(\.self) else {
                return Array(store.answer(request).joined())
            }
            return isStream
                ? request.refusal(404, 10_059, "stream not found")
                : request.message(Array(#"{"total":0,"consumers":[]}"#.utf8))
        }
        let server = try FakeNATSServer(answers)
        let settings = NATSSettings(url: server.url)
        let bench = Bench(
            engine: { () throws(ConnectorError) in
                try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
            }
        )
        try await bench.outbox.start(isStored: true)
        #expect(bench.outbox.fault == nil)
        isGone.withLock { $0 = true }
        await bench.clock.advance(toTimerAfter: .seconds(1))
        if bench.outbox.fault == nil { await bench.until { bench.outbox.fault != nil } }
        let words = isStream ? "the NATS servers have no stream OUTBOX" : "the stream OUTBOX has no consumer for a"
        #expect(bench.outbox.fault?.code == .missing && bench.outbox.fault?.message.contains(words) == true)
        #expect(bench.outbox.fault?.fix?.contains("outbox migrate") == true)
        isGone.withLock { $0 = false }
        await bench.clock.advance(toTimerAfter: .seconds(1))
        if bench.outbox.fault != nil { await bench.until { bench.outbox.fault == nil } }
        await bench.outbox.close()
        withExtendedLifetime(server) {}
    }

    // MARK: Settled events

    @Test func `a host forgets what it holds of a consumer that was made again, and knows by time what it settled`() {
        let later = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + 1)
        let entry = OutboxBatch.Entry(position: 1, attempts: 0, event: .numbered(1), storedAt: OutboxEvent.start)
        var consumer = NATSSchema.Consumer(
            path: "a",
            slot: 0,
            lease: 30_000_000_000,
            pending: 0,
            leased: 1,
            floor: 0,
            last: 1,
            created: OutboxEvent.start
        )
        var state = NATSEngine.State(slots: [:], created: [:], leases: [:])
        func adopt(_ consumers: [String: NATSSchema.Consumer]) {
            state.adopt(consumers, since: state.reading(at: 0), now: 0)
        }
        adopt(["a": consumer])
        state.leases["a"]?.add([NATSLeases.LeasedEvent(entry: entry, payload: [], reply: "reply", until: .max)])
        state.oldest["a"] = NATSEngine.OldestEvent(floor: 0)
        state.noteSettled([entry], at: "a")
        adopt(["a": consumer])
        // The servers' clocks and files differ by little.
        consumer.created = later
        adopt(["a": consumer])
        #expect(state.leases["a"]?.held.count == 1)
        #expect(state.oldest["a"]?.floor == 0)
        consumer.created = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + 2_000_000_000)
        adopt(["a": consumer])
        #expect(state.leases["a"]?.held.isEmpty == true)
        #expect(state.oldest["a"]?.floor == nil)
        #expect(state.settled["a"]?.contains(1, storedAt: OutboxEvent.start) == true)
        #expect(state.settled["a"]?.contains(1, storedAt: later) == false)
        state.leases["a"]?.add([NATSLeases.LeasedEvent(entry: entry, payload: [], reply: "reply", until: .max)])
        adopt([:])
        adopt(["a": consumer])
        #expect(state.leases["a"]?.held.isEmpty == true)
    }

    @Test func `the last settled events are remembered, also those that the server knows to be settled`() {
        var settled = NATSEngine.SettledEvents()
        for position in 1...Int64(25_000) {
            let event = OutboxEvent.numbered(1)
            settled.add(OutboxBatch.Entry(position: position, attempts: 0, event: event, storedAt: OutboxEvent.start))
        }
        settled.trim(upTo: 24_000)
        #expect(!settled.contains(14_000, storedAt: OutboxEvent.start))
        #expect(settled.contains(14_001, storedAt: OutboxEvent.start))
        #expect(settled.contains(24_001, storedAt: OutboxEvent.start))
    }

    @Test func `an event whose acknowledgement was lost is acknowledged again, and not delivered again`() async throws {
        let left = Mutex(2)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.OUTBOX.a") else { return nil }
            let isLeft = left.withLock { left in
                left -= 1
                return left >= 0
            }
            guard isLeft else { return nil }
            let event = request.message(
                Array("{}".utf8),
                subject: "OUTBOX.e.1.x",
                reply: "$JS.ACK.OUTBOX.a.1.1.1.1767225600000000000.0",
                headers: "NATS/1.0\r\nConnector-Event: 1767225600000000000 analytics=2F1 track event-1"
            )
            return event + request.message([], headers: "NATS/1.0 404 No Messages")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.map(\.id) == ["event-1"])
            try await engine.settle(batch, [.delivered], Attempt(at: OutboxEvent.start, failures: [nil]))
            #expect(log.subjects("$JS.ACK.OUTBOX.a.", "+ACK").count == 1)
            #expect(try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start).isEmpty)
            #expect(log.subjects("$JS.ACK.OUTBOX.a.", "+ACK").count == 2)
        }
    }

    @Test func `the letter of a damaged event has its payload, even if its lease is gone`() async throws {
        let kind = EventKind("analytics/1", "track")
        let payload = Array("{},{}".utf8)
        let event = OutboxEvent(id: "event-1", kind: kind, createdAt: OutboxEvent.start, payload: payload)
        try await NATSEngine.withFake { engine, log in
            _ = try await engine.append([event], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            let damage = try #require(batch.damage)
            engine.release("a")
            try await engine.settle(batch, [.dead], Attempt(at: OutboxEvent.start, failures: [damage]))
            #expect(log.subjects("OUTBOX.dead.a", "{},{}").count == 1)
        }
    }

    @Test func `a drop and a move end, however many events keep coming`() async throws {
        let last = Mutex(1)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.OUTBOX.a") else { return nil }
            let position = last.withLock { last in
                last += 1
                return last
            }
            let event = request.message(
                Array("{}".utf8),
                subject: "OUTBOX.e.1.1.x",
                reply: "$JS.ACK.OUTBOX.a.1.\(position).\(position).1767225600000000000.0",
                headers: "NATS/1.0\r\nConnector-Event: 1767225600000000000 analytics=2F1 track event-\(position)"
            )
            return event + request.message([], headers: "NATS/1.0 404 No Messages")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            // Another host has the first event.
            _ = try await engine.append([.numbered(1)], to: ["a", "b"])
            #expect(try await engine.drop(RecordSelection(paths: ["a"], states: [.queued])) == 0)
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count == 1)
            #expect(try await engine.reassign("a", to: "b"))
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count == 2)
            #expect(log.subjects("OUTBOX.e.0.1.x").count == 2)
        }
    }

    // MARK: Reading

    @Test func `how long an event has waited is told by the servers' clock, whatever this host's says`() {
        let (hour, start): (UInt64, UInt64) = (3_600_000_000_000, OutboxEvent.start.nanoseconds)
        let now = Timestamp(nanoseconds: start + 9 * hour)
        // An hour ago, the servers' clock said that it was the start.
        let known = NATSEngine.ServerTime(time: OutboxEvent.start, receivedAt: 5)
        let old = known.local(Timestamp(nanoseconds: start - hour), now: now, monotonic: 5 + hour)
        #expect(old?.nanoseconds == start + 7 * hour)
        let fresh = known.local(Timestamp(nanoseconds: start + hour), now: now, monotonic: 5 + hour)
        #expect(fresh == now)
        let later = known.local(Timestamp(nanoseconds: start + 2 * hour), now: now, monotonic: 5 + hour)
        #expect(later == now)
        let unknown = NATSEngine.ServerTime(time: nil, receivedAt: 5)
        #expect(unknown.local(OutboxEvent.start, now: now, monotonic: 5) == nil)
    }

    @Test(arguments: [#""deliver_subject":"somewhere""#, #""inactive_threshold":60000000000"#])
    func `a consumer that hands out nothing on request, or ends by itself, is refused`(_ setting: String) async throws {
        let config =
            #""durable_name":"a","description":"a","ack_policy":"explicit","filter_subject":"OUTBOX.e.1.>""#
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            return request.message(Array(#"{"total":1,"consumers":[{"config":{\#(config),\#(setting)}}]}"#.utf8))
        }
        let error = await #expect(throws: ConnectorError.self) { try await NATSEngine.withFake(answer) { _, _ in } }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("its \(setting.split(separator: "\"")[0]) is set") == true)
    }

    @Test func `a stream that does not confirm what it stores is refused`() async throws {
        let config =
            #""subjects":["OUTBOX.e.>"],"retention":"limits","storage":"file","num_replicas":1,"discard":"new""#
        let answer: SteeredAnswer = { request in
            guard request.subject == "$JS.API.STREAM.INFO.OUTBOX" else { return nil }
            return request.message(Array(#"{"config":{\#(config),"no_ack":true},"state":{}}"#.utf8))
        }
        let error = await #expect(throws: ConnectorError.self) { try await NATSEngine.withFake(answer) { _, _ in } }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("no_ack") == true)
    }

    @Test func `a consumer whose state no server knows at the moment is not reported as missing`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            return request.message(Array(#"{"total":2,"consumers":[],"missing":["a","b"]}"#.utf8))
        }
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSEngine.withFake(waits: .brief, answer) { _, _ in }
        }
        #expect(error?.code == .storage && error?.isRetryable == true)
        #expect(error?.cause?.contains("a, b") == true)
    }

    @Test func `a consumer for which no server responds for a moment is awaited`() async throws {
        let isAbsent = Mutex(false)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            let isFirst = isAbsent.withLock { isAbsent in
                defer { isAbsent = false }
                return isAbsent
            }
            return isFirst ? request.message(Array(#"{"total":2,"consumers":[],"missing":["a"]}"#.utf8)) : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let count = log.subjects("$JS.API.CONSUMER.LIST.").count
            isAbsent.withLock { $0 = true }
            _ = try await engine.version()
            #expect(log.subjects("$JS.API.CONSUMER.LIST.").count == count + 2)
        }
    }

    @Test func `the oldest event is read once, and each connector has a size of its own`() async throws {
        try await NATSEngine.withFake { engine, log in
            _ = try await engine.append([.numbered(1), .numbered(2)], to: ["a"])
            _ = try await engine.append([.numbered(3, bytes: 1000)], to: ["b"])
            for _ in 1...3 {
                let statistics = try await engine.statistics()
                #expect(statistics["a"].map { $0.bytes == 20 * $0.queued } == true)
                #expect(statistics["b"].map { $0.bytes == 1000 * $0.queued } == true)
                #expect(statistics["a"]?.oldest == OutboxEvent.start)
            }
            #expect(log.subjects("$JS.API.STREAM.MSG.GET.").count == 2)
        }
    }

    @Test func `events go to the slots that the connectors have at the moment`() async throws {
        let others = Mutex<FakeJetStream?>(nil)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            return others.withLock(\.self).map { Array($0.answer(request).joined()) }
        }
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            others.withLock { $0 = FakeJetStream(["b", "a"]) }
            _ = try await engine.version()
            _ = try await engine.append([.numbered(2)], to: ["a"])
            #expect(log.subjects("OUTBOX.e.") == ["OUTBOX.e.1.x", "OUTBOX.e.0.1.x"])
            others.withLock { $0 = FakeJetStream(["b"]) }
            _ = try await engine.read()
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(3)], to: ["a"])
            }
            #expect(error?.code == .missing)
        }
    }
}
