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

    // MARK: Reading

    @Test func `a consumer whose state no server knows at the moment is not reported as missing`() async throws {
        let answer: Answer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            return request.message(Array(#"{"total":2,"consumers":[],"missing":["a","b"]}"#.utf8))
        }
        let error = await #expect(throws: ConnectorError.self) { try await withEngine(answer) { _, _ in } }
        #expect(error?.code == .storage && error?.isRetryable == true)
        #expect(error?.message.contains("a, b") == true)
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
