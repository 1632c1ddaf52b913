// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Servers that refuse to store events, and those that do not at once.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSStoringTests {
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
            #expect(log.subjects("OUTBOX.e.").count == 2, "once more after a look for what is settled")
        }
    }

    @Test func `an event has room in a stream that another host has emptied meanwhile`() async throws {
        let isFull = Mutex(true)
        let answer: SteeredAnswer = { request in
            guard request.isEvent else { return nil }
            let isRefused = isFull.withLock { isFull in
                defer { isFull = false }
                return isFull
            }
            return isRefused ? request.refusal(503, 10_077, "maximum bytes exceeded") : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let step = try await engine.append([.numbered(1)], to: ["a"])
            #expect(step.isApplied == [true])
            #expect(log.subjects("OUTBOX.e.").count == 2)
            #expect(log.subjects("$JS.API.STREAM.MSG.DELETE.").isEmpty)
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
            request.isEvent ? request.denial : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.message.contains("Permissions Violation for Publish to \"OUTBOX.e.1.x\"") == true)
            #expect(error?.fix?.contains("grant") == true)
            #expect(log.subjects("OUTBOX.e.").count == 1)
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

    @Test func `a server that accepts no message as large as a dead letter's reason is refused`() async throws {
        let error = await #expect(throws: ConnectorError.self) {
            try await NATSEngine.withFake(maximum: 4000) { _, _ in }
        }
        #expect(error?.code == .conflict)
        #expect(error?.fix?.contains("max_payload") == true)
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

    @Test func `that settled events cannot be deleted is known after one request, and soon that they can be again`()
        async throws
    {
        let step = Mutex(0)
        let told = Mutex<[String?]>([])
        let answer: SteeredAnswer = { request in
            let current = step.withLock(\.self)
            // Nothing waits.
            if current > 0, request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") {
                return request.message(Array(#"{"total":0,"consumers":[]}"#.utf8))
            }
            guard current == 1 else { return nil }
            if request.subject.hasPrefix("$JS.API.STREAM.MSG.DELETE.") { return request.denial }
            return request.isEvent ? request.refusal(503, 10_077, "maximum bytes exceeded") : nil
        }
        let onTrim: @Sendable (ConnectorError?) -> Void = { error in told.withLock { $0.append(error?.message) } }
        try await NATSEngine.withFake(onTrim: onTrim, answer) { engine, log in
            _ = try await engine.append((1...3).map { .numbered($0) }, to: ["a"])
            step.withLock { $0 = 1 }
            await #expect(throws: ConnectorError.self) { try await engine.append([.numbered(4)], to: ["a"]) }
            let words = told.withLock(\.self)
            #expect(words.count == 1)
            #expect(words.first??.contains("$JS.API.STREAM.MSG.DELETE.OUTBOX") == true)
            #expect(log.subjects("$JS.API.STREAM.MSG.DELETE.").count == 1)
            step.withLock { $0 = 2 }
            // Nothing more is sent: the looks alone try again.
            while told.withLock(\.count) < 2 {
                try await engine.check(["a"])
                try await Task.checkedYield()
            }
            let areGone = told.withLock { told in told.map { $0 == nil } }
            #expect(areGone == [false, true])
            #expect(log.subjects("$JS.API.STREAM.MSG.DELETE.").count == 4)
        }
    }

    @Test func `a leaf node without JetStream is told what it lacks`() async throws {
        let answer: SteeredAnswer = { request in
            request.isEvent ? request.message([], headers: "NATS/1.0 503") : nil
        }
        try await NATSEngine.withFake(waits: .brief, answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.message.contains("no NATS server offers JetStream") == true, "\(error?.message ?? "")")
            #expect(error?.fix?.contains("domains are not supported") == true)
        }
    }
}
