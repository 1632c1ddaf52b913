// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Servers that refuse requests, with an answer that the test puts before those of ``FakeJetStream``.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSRefusalTests {
    typealias Answer = @Sendable (FakeNATSServer.Request) -> [UInt8]?

    /// What a server was asked, in order of arrival.
    private final class Log: Sendable {
        private let requests = Mutex<[FakeNATSServer.Request]>([])

        func add(_ request: FakeNATSServer.Request) { requests.withLock { $0.append(request) } }

        /// The subjects that begin with a text, only of messages with the given content, if any.
        func subjects(_ start: String, _ content: String? = nil) -> [String] {
            requests.withLock { requests in
                requests.filter { request in
                    request.subject.hasPrefix(start) && content.map { request.payload == Array($0.utf8) } ?? true
                }
                .map(\.subject)
            }
        }
    }

    /// Opens an engine, and closes it after a test.
    ///
    /// - Parameters:
    ///   - waits: The engine's timeouts.
    ///   - maximum: The largest message that the server takes, in bytes.
    ///   - answer: What the server answers instead of the usual; nil for that.
    private func withEngine(
        waits: NATSSettings.Waits = NATSSettings.Waits(),
        maximum: Int = 1_048_576,
        _ answer: @escaping Answer = { _ in nil },
        _ body: (NATSEngine, Log) async throws -> Void
    ) async throws {
        let (store, log) = (FakeJetStream(["a", "b"]), Log())
        var answers = FakeNATSServer.Answers()
        answers.greeting = {
            let greeting = #"{"server_id":"F","version":"2.10.0","proto":1,"headers":true,"max_payload":\#(maximum)}"#
            return Array("INFO \(greeting)\r\n".utf8)
        }
        answers.answer = { request in
            log.add(request)
            return answer(request) ?? Array(store.answer(request).joined())
        }
        let server = try FakeNATSServer(answers)
        var settings = NATSSettings(url: server.url)
        settings.waits = waits
        let engine = try await NATSEngine(settings, targets: ["a", "b"], now: { OutboxEvent.start })
        try await body(engine, log)
        await engine.close()
        withExtendedLifetime(server) {}
    }

    /// The timeouts of tests that wait until one expires.
    private static var brief: NATSSettings.Waits {
        var waits = NATSSettings.Waits()
        (waits.pause, waits.limit) = (2_000_000, 1_000_000_000)
        return waits
    }

    private static func refusal(_ code: Int, _ number: Int, _ words: String) -> [UInt8] {
        Array(#"{"error":{"code":\#(code),"err_code":\#(number),"description":"\#(words)"}}"#.utf8)
    }

    private static func isEvent(_ request: FakeNATSServer.Request) -> Bool { request.subject.hasPrefix("OUTBOX.e.") }

    // MARK: Storing

    @Test(arguments: [10_023, 10_077])
    func `a full stream refuses an event at once, in the server's words`(_ number: Int) async throws {
        let answer: Answer = { request in
            Self.isEvent(request) ? request.message(Self.refusal(503, number, "maximum bytes exceeded")) : nil
        }
        try await withEngine(answer) { engine, log in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.message.contains("maximum bytes exceeded") == true)
            #expect(error?.fix?.contains("max_bytes") == true)
            #expect(log.subjects("OUTBOX.e.").count == 1)
        }
    }

    @Test(arguments: [1, 2])
    func `the server's last words are the cause if it could not store anything in time`(count: Int) async throws {
        let answer: Answer = { request in
            Self.isEvent(request) ? request.message(Self.refusal(503, 10_008, "temporarily unavailable")) : nil
        }
        try await withEngine(waits: Self.brief, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append((1...count).map { .numbered($0) }, to: ["a"])
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            #expect(error?.cause == "temporarily unavailable")
        }
    }

    @Test func `a permission that the user lacks is the cause if nothing answers`() async throws {
        let answer: Answer = { request in
            Self.isEvent(request) ? Array("-ERR 'Permissions Violation for Publish to \"OUTBOX\"'\r\n".utf8) : nil
        }
        // Nothing at all answers here, but opening still has the usual time for each answer.
        var waits = Self.brief
        waits.limit = 2_000_000_000
        try await withEngine(waits: waits, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.cause?.contains("Permissions Violation") == true)
            #expect(error?.fix?.contains("permissions") == true)
        }
    }

    @Test func `an event that the server is already storing ends up stored`() async throws {
        let isFirst = Mutex(true)
        let answer: Answer = { request in
            let isRefused = isFirst.withLock { isFirst in
                defer { if Self.isEvent(request) { isFirst = false } }
                return isFirst && Self.isEvent(request)
            }
            guard isRefused else { return nil }
            return request.message(Self.refusal(409, 10_158, "duplicate message id is in process"))
        }
        try await withEngine(answer) { engine, log in
            let step = try await engine.append([.numbered(1)], to: ["a"])
            #expect(step.isApplied == [true])
            #expect(log.subjects("OUTBOX.e.").count == 2)
        }
    }

    @Test func `an event is stored only if its dead letter will fit, too`() async throws {
        try await withEngine(maximum: 8192) { engine, log in
            _ = try await engine.append([.numbered(1, bytes: 3000)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(2), .numbered(3, bytes: 5000)], to: ["a"])
            }
            #expect(error?.code == .tooLarge)
            #expect(log.subjects("OUTBOX.e.").count == 1)
        }
    }

    @Test func `an event that is larger than the stream takes is too large, whatever the server takes`() async throws {
        let answer: Answer = { request in
            guard Self.isEvent(request) else { return nil }
            return request.message(Self.refusal(400, 10_054, "message size exceeds maximum allowed"))
        }
        try await withEngine(answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.code == .tooLarge)
            #expect(error?.fix?.contains("max_msg_size") == true)
        }
    }

    // MARK: Leasing

    @Test func `a permission to lease events that the user lacks is an error, and not an empty queue`() async throws {
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            return Array("-ERR 'Permissions Violation for Publish to \"\(request.subject)\"'\r\n".utf8)
        }
        var waits = Self.brief
        waits.limit = 2_000_000_000
        try await withEngine(waits: waits, answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            #expect(error?.cause?.contains("Permissions Violation") == true)
        }
    }

    @Test func `a consumer that was deleted is an error that names the remedy`() async throws {
        let answer: Answer = { request in
            if request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") { return [] }
            guard request.subject.hasPrefix("$JS.API.CONSUMER.INFO.") else { return nil }
            return request.message(Self.refusal(404, 10_014, "consumer not found"))
        }
        var waits = Self.brief
        waits.limit = 3_000_000_000
        try await withEngine(waits: waits, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.message.contains("consumer not found") == true)
            #expect(error?.fix?.contains("outbox migrate") == true)
        }
    }

    @Test func `a consumer for which no server responds for a moment hands out its events after it`() async throws {
        let isAbsent = Mutex(true)
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            let isFirst = isAbsent.withLock { isAbsent in
                defer { isAbsent = false }
                return isAbsent
            }
            return isFirst ? request.message([], headers: "NATS/1.0 503") : nil
        }
        try await withEngine(answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.map(\.event.id) == ["event-1"])
        }
    }

    @Test func `a consumer for which no server responds is an error in the end`() async throws {
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            return request.message([], headers: "NATS/1.0 503")
        }
        try await withEngine(waits: Self.brief, answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.cause?.contains("the consumer a") == true)
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count > 1)
        }
    }

    // MARK: Settling

    private func settle(_ engine: NATSEngine, _ batch: OutboxBatch, _ outcomes: [DeliveryOutcome]) async throws {
        let failures = outcomes.map { $0 == .delivered ? nil : DeliveryFailure(.invalid, "bad") }
        try await engine.settle(batch, outcomes, Attempt(at: OutboxEvent.start, failures: failures))
    }

    @Test func `dead letters that cannot be stored do not hold up events that the vendor has`() async throws {
        let isFull = Mutex(true)
        let answer: Answer = { request in
            guard request.subject.hasPrefix("OUTBOX.dead."), isFull.withLock(\.self) else { return nil }
            return request.message(Self.refusal(503, 10_077, "maximum bytes exceeded"))
        }
        try await withEngine(answer) { engine, log in
            _ = try await engine.append([.numbered(1), .numbered(2)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            await #expect(throws: ConnectorError.self) { try await settle(engine, batch, [.dead, .delivered]) }
            #expect(log.subjects("$JS.ACK.OUTBOX.a.1.", "+ACK").map { $0.split(separator: ".")[5] } == ["2"])
            isFull.withLock { $0 = false }
            try await settle(engine, batch, [.dead, .delivered])
            #expect(log.subjects("$JS.ACK.OUTBOX.a.1.", "+ACK").map { $0.split(separator: ".")[5] } == ["2", "1"])
            let statistics = try await engine.statistics()
            #expect(statistics["a"]?.delivered == 1)
        }
    }

    @Test func `a batch whose consumer is gone is settled, with one letter for each event`() async throws {
        let isGone = Mutex(false)
        let answer: Answer = { request in
            if request.subject.hasPrefix("$JS.ACK.") {
                return request.reply == nil ? [] : request.message([], headers: "NATS/1.0 503")
            }
            guard request.subject.hasPrefix("$JS.API.CONSUMER.INFO."), isGone.withLock(\.self) else { return nil }
            return request.message(Self.refusal(404, 10_014, "consumer not found"))
        }
        try await withEngine(waits: Self.brief, answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            await #expect(throws: ConnectorError.self) { try await settle(engine, batch, [.dead]) }
            isGone.withLock { $0 = true }
            try await settle(engine, batch, [.dead])
            #expect(log.subjects("OUTBOX.dead.") == ["OUTBOX.dead.a"])
        }
    }

    @Test func `a letter that is in the queue again and cannot be deleted is an error that says both`() async throws {
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.STREAM.MSG.DELETE.") else { return nil }
            return request.message(Self.refusal(400, 10_110, "message delete not permitted"))
        }
        try await withEngine(answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            try await settle(engine, batch, [.dead])
            let error = await #expect(throws: ConnectorError.self) { try await engine.replay(RecordSelection()) }
            #expect(error?.message.contains("not permitted") == true)
            #expect(error?.message.contains("in the queue again") == true)
            #expect(log.subjects("OUTBOX.e.").count == 2)
        }
    }

    @Test(arguments: [10_002, 10_026, 10_027] as [Int64])
    func `that an account may have no more streams or consumers is said with a remedy`(_ number: Int64) async throws {
        try await withEngine { engine, _ in
            let refusal = JetStream.Refusal(code: 400, number: number, description: "limit reached")
            #expect(engine.jetStream.error(refusal).fix?.contains("account") == true)
        }
    }

    // MARK: Losing the servers

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
                ? request.message(Self.refusal(404, 10_059, "stream not found"))
                : request.message(Array(#"{"total":0,"consumers":[]}"#.utf8))
        }
        let server = try FakeNATSServer(answers)
        let settings = NATSSettings(url: server.url)
        let bench = Bench(
            engine: { () throws(ConnectorError) in
                try await NATSEngine(settings, targets: ["a"], now: { OutboxEvent.start })
            }
        )
        try await bench.outbox.start(isStored: true)
        #expect(bench.outbox.fault == nil)
        isGone.withLock { $0 = true }
        await bench.clock.advance(toTimerAfter: .seconds(1))
        if bench.outbox.fault == nil { await bench.until { bench.outbox.fault != nil } }
        let words = isStream ? "stream not found" : "no consumer for a"
        #expect(bench.outbox.fault?.message.contains(words) == true)
        #expect(bench.outbox.fault?.fix?.contains("outbox migrate") == true)
        isGone.withLock { $0 = false }
        await bench.clock.advance(toTimerAfter: .seconds(1))
        if bench.outbox.fault != nil { await bench.until { bench.outbox.fault == nil } }
        await bench.outbox.close()
        withExtendedLifetime(server) {}
    }

    // MARK: Reading

    @Test(arguments: [#""deliver_subject":"somewhere""#, #""inactive_threshold":60000000000"#])
    func `a consumer that hands out nothing on request, or ends by itself, is refused`(_ setting: String) async throws {
        let config = #""durable_name":"a","ack_policy":"explicit","filter_subject":"OUTBOX.e.1.>""#
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            return request.message(Array(#"{"total":1,"consumers":[{"config":{\#(config),\#(setting)}}]}"#.utf8))
        }
        let error = await #expect(throws: ConnectorError.self) { try await withEngine(answer) { _, _ in } }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("its \(setting.split(separator: "\"")[0]) is set") == true)
    }

    @Test func `a stream that does not confirm what it stores is refused`() async throws {
        let config =
            #""subjects":["OUTBOX.e.>"],"retention":"limits","storage":"file","num_replicas":1,"discard":"new""#
        let answer: Answer = { request in
            guard request.subject == "$JS.API.STREAM.INFO.OUTBOX" else { return nil }
            return request.message(Array(#"{"config":{\#(config),"no_ack":true},"state":{}}"#.utf8))
        }
        let error = await #expect(throws: ConnectorError.self) { try await withEngine(answer) { _, _ in } }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("no_ack") == true)
    }

    @Test func `a consumer whose state no server knows at the moment is not reported as missing`() async throws {
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            return request.message(Array(#"{"total":2,"consumers":[],"missing":["a","b"]}"#.utf8))
        }
        let error = await #expect(throws: ConnectorError.self) {
            try await withEngine(waits: Self.brief, answer) { _, _ in }
        }
        #expect(error?.code == .storage && error?.isRetryable == true)
        #expect(error?.cause?.contains("a, b") == true)
    }

    @Test func `a consumer for which no server responds for a moment is awaited`() async throws {
        let isAbsent = Mutex(false)
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            let isFirst = isAbsent.withLock { isAbsent in
                defer { isAbsent = false }
                return isAbsent
            }
            return isFirst ? request.message(Array(#"{"total":2,"consumers":[],"missing":["a"]}"#.utf8)) : nil
        }
        try await withEngine(answer) { engine, log in
            let count = log.subjects("$JS.API.CONSUMER.LIST.").count
            isAbsent.withLock { $0 = true }
            _ = try await engine.version()
            #expect(log.subjects("$JS.API.CONSUMER.LIST.").count == count + 2)
        }
    }

    @Test func `the oldest event is read once, and each connector has a size of its own`() async throws {
        try await withEngine { engine, log in
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
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            return others.withLock(\.self).map { Array($0.answer(request).joined()) }
        }
        try await withEngine(answer) { engine, log in
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
