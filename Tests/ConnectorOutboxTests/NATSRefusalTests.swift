// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Servers that refuse to store, to lease or to settle events.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSRefusalTests {
    // MARK: Storing

    @Test(arguments: [10_023, 10_077])
    func `a full stream refuses an event at once, in the server's words`(_ number: Int) async throws {
        let answer: SteeredAnswer = { request in
            request.isEvent ? request.refusal(503, number, "maximum bytes exceeded") : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
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
        let answer: SteeredAnswer = { request in
            request.isEvent ? request.refusal(503, 10_008, "temporarily unavailable") : nil
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append((1...count).map { .numbered($0) }, to: ["a"])
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            #expect(error?.cause == "temporarily unavailable")
        }
    }

    @Test func `a permission that the user lacks is the cause if nothing answers`() async throws {
        let answer: SteeredAnswer = { request in
            request.isEvent ? Array("-ERR 'Permissions Violation for Publish to \"OUTBOX\"'\r\n".utf8) : nil
        }
        // Nothing at all answers here, but opening still has the usual time for each answer.
        var waits = NATSSettings.Waits.brief
        waits.limit = 2_000_000_000
        try await NATSEngine.withFake(waits: waits, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.cause?.contains("Permissions Violation") == true)
            #expect(error?.fix?.contains("permissions") == true)
        }
    }

    @Test func `an event that the server is already storing ends up stored`() async throws {
        let isFirst = Mutex(true)
        let answer: SteeredAnswer = { request in
            let isRefused = isFirst.withLock { isFirst in
                defer { if request.isEvent { isFirst = false } }
                return isFirst && request.isEvent
            }
            guard isRefused else { return nil }
            return request.refusal(409, 10_158, "duplicate message id is in process")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let step = try await engine.append([.numbered(1)], to: ["a"])
            #expect(step.isApplied == [true])
            #expect(log.subjects("OUTBOX.e.").count == 2)
        }
    }

    @Test func `an event is stored only if its dead letter will fit, too`() async throws {
        try await NATSEngine.withFake(maximum: 8192) { engine, log in
            _ = try await engine.append([.numbered(1, bytes: 3000)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(2), .numbered(3, bytes: 5000)], to: ["a"])
            }
            #expect(error?.code == .tooLarge)
            #expect(log.subjects("OUTBOX.e.").count == 1)
        }
    }

    @Test func `an event that is larger than the stream takes is too large, whatever the server takes`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.isEvent else { return nil }
            return request.refusal(400, 10_054, "message size exceeds maximum allowed")
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.code == .tooLarge)
            #expect(error?.fix?.contains("max_msg_size") == true)
        }
    }

    // MARK: Leasing

    @Test func `a permission to lease events that the user lacks is an error, and not an empty queue`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            return Array("-ERR 'Permissions Violation for Publish to \"\(request.subject)\"'\r\n".utf8)
        }
        var waits = NATSSettings.Waits.brief
        waits.limit = 2_000_000_000
        try await NATSEngine.withFake(waits: waits, answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            #expect(error?.cause?.contains("Permissions Violation") == true)
        }
    }

    @Test func `a consumer that was deleted is an error that names the remedy`() async throws {
        let answer: SteeredAnswer = { request in
            if request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") { return [] }
            guard request.subject.hasPrefix("$JS.API.CONSUMER.INFO.") else { return nil }
            return request.refusal(404, 10_014, "consumer not found")
        }
        var waits = NATSSettings.Waits.brief
        waits.limit = 3_000_000_000
        try await NATSEngine.withFake(waits: waits, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.message.contains("consumer not found") == true)
            #expect(error?.fix?.contains("outbox migrate") == true)
        }
    }

    @Test func `a consumer for which no server responds for a moment hands out its events after it`() async throws {
        let isAbsent = Mutex(true)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            let isFirst = isAbsent.withLock { isAbsent in
                defer { isAbsent = false }
                return isAbsent
            }
            return isFirst ? request.message([], headers: "NATS/1.0 503") : nil
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.map(\.event.id) == ["event-1"])
        }
    }

    @Test func `a consumer for which no server responds is an error in the end`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            return request.message([], headers: "NATS/1.0 503")
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, log in
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
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("OUTBOX.dead."), isFull.withLock(\.self) else { return nil }
            return request.refusal(503, 10_077, "maximum bytes exceeded")
        }
        try await NATSEngine.withFake(answer) { engine, log in
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
        let answer: SteeredAnswer = { request in
            if request.subject.hasPrefix("$JS.ACK.") {
                return request.reply == nil ? [] : request.message([], headers: "NATS/1.0 503")
            }
            guard request.subject.hasPrefix("$JS.API.CONSUMER.INFO."), isGone.withLock(\.self) else { return nil }
            return request.refusal(404, 10_014, "consumer not found")
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            await #expect(throws: ConnectorError.self) { try await settle(engine, batch, [.dead]) }
            isGone.withLock { $0 = true }
            try await settle(engine, batch, [.dead])
            #expect(log.subjects("OUTBOX.dead.") == ["OUTBOX.dead.a"])
        }
    }

    @Test func `a letter that is in the queue again and cannot be deleted is an error that says both`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.STREAM.MSG.DELETE.") else { return nil }
            return request.refusal(400, 10_110, "message delete not permitted")
        }
        try await NATSEngine.withFake(answer) { engine, log in
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
        try await NATSEngine.withFake { engine, _ in
            let refusal = JetStream.Refusal(code: 400, number: number, description: "limit reached")
            #expect(engine.jetStream.error(refusal).fix?.contains("account") == true)
        }
    }
}
