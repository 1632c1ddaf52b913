// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Servers that refuse to lease or to settle events.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSRefusalTests {
    // MARK: Leasing

    /// Why a connector gets no batch; nil if it gets one.
    private func failure(_ engine: NATSEngine, _ path: String) async -> ConnectorError? {
        do throws(ConnectorError) {
            _ = try await engine.batch(for: path, upTo: BatchLimits(), now: OutboxEvent.start)
            return nil
        } catch {
            return error
        }
    }

    @Test func `each connector is told at once what the user may not do for it, and not what it may not for another`()
        async throws
    {
        let answer: SteeredAnswer = { request in
            request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") ? request.denial : nil
        }
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a", "b"])
            async let first = failure(engine, "a")
            async let second = failure(engine, "b")
            let messages = await [first?.message ?? "", second?.message ?? ""]
            #expect(messages[0].contains("CONSUMER.MSG.NEXT.OUTBOX.a\""), "\(messages[0])")
            #expect(messages[1].contains("CONSUMER.MSG.NEXT.OUTBOX.b\""), "\(messages[1])")
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count == 2)
        }
    }

    @Test func `a server that allows few events in a request is asked for as many as it allows`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT."),
                let count = (try? JSONValue(parsing: request.payload))?["batch"]?.integer, count > 10
            else { return nil }
            return request.message([], headers: "NATS/1.0 409 Exceeded MaxRequestBatch of 10")
        }
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append((1...3).map { .numbered($0) }, to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.count == 3)
            #expect(log.subjects("$JS.API.CONSUMER.MSG.NEXT.").count == 2)
        }
    }

    @Test func `a permission to lease events that the user lacks is an error, and not an empty queue`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.") else { return nil }
            return request.denial
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            #expect(error?.message.contains("Permissions Violation") == true)
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
            #expect(error?.code == .missing)
            #expect(error?.message.contains("the stream OUTBOX has no consumer for a") == true)
            #expect(error?.fix?.contains("outbox migrate") == true)
        }
    }

    @Test func `a stream that was deleted is named, whatever was asked of it`() async throws {
        let isGone = Mutex(false)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API."), isGone.withLock(\.self) else { return nil }
            return request.refusal(404, 10_059, "stream not found")
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            let stored = try await engine.append([.numbered(1)], to: ["a"])
            #expect(stored.isApplied == [true])
            isGone.withLock { $0 = true }
            let reading = await #expect(throws: ConnectorError.self) { try await engine.read() }
            let looking = await #expect(throws: ConnectorError.self) { try await engine.version() }
            let lease = await #expect(throws: ConnectorError.self) {
                try await engine.jetStream.info(ofConsumer: "a", of: "OUTBOX")
            }
            let message = await #expect(throws: ConnectorError.self) {
                try await engine.jetStream.message("OUTBOX", from: 1, filter: ">")
            }
            let deletion = await #expect(throws: ConnectorError.self) {
                try await engine.jetStream.delete(1, of: "OUTBOX-dead")
            }
            for error in [reading, looking, lease, message] {
                #expect(error?.code == .missing)
                #expect(error?.message.contains("the NATS servers have no stream OUTBOX") == true)
            }
            #expect(deletion?.message.contains("no stream OUTBOX-dead") == true)
        }
    }

    @Test(
        arguments: [
            ("maximum messages exceeded", "max_msgs"), ("maximum bytes exceeded", "max_bytes"),
            ("no space left on device", "the limits of JetStream"),
        ]
    )
    func `the limit that leaves no room is the one to raise`(_ words: String, _ limit: String) async throws {
        let answer: SteeredAnswer = { $0.isEvent ? $0.refusal(503, 10_077, words) : nil }
        try await NATSEngine.withFake(answer) { engine, _ in
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(1)], to: ["a"])
            }
            #expect(error?.message.contains(words) == true)
            #expect(error?.fix?.contains("raise \(limit)") == true || error?.fix?.contains("or \(limit)") == true)
        }
    }

    @Test func `nothing is leased from a consumer whose settings lose events, until they are right again`()
        async throws
    {
        let setting = Mutex(#""max_deliver":-1"#)
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.LIST.") else { return nil }
            let consumers = [("a", "1.>", setting.withLock(\.self)), ("b", "*.1.>", #""max_deliver":-1"#)]
                .map { name, filter, more in
                    #"{"config":{"durable_name":"\#(name)","description":"\#(name)","ack_policy":"explicit","#
                        + #""ack_wait":30000000000,"filter_subject":"OUTBOX.e.\#(filter)",\#(more)}}"#
                }
            return request.message(Array(#"{"total":2,"consumers":[\#(consumers.joined(separator: ","))]}"#.utf8))
        }
        let next = "$JS.API.CONSUMER.MSG.NEXT.OUTBOX."
        try await NATSEngine.withFake(answer) { engine, log in
            _ = try await engine.append([.numbered(1)], to: ["a", "b"])
            for (lossy, words) in [(#""headers_only":true"#, "headers_only"), (#""max_deliver":2"#, "max_deliver")] {
                setting.withLock { $0 = lossy }
                let fault = await #expect(throws: ConnectorError.self) { try await engine.version() }
                let refusal = await failure(engine, "a")
                #expect(fault?.code == .conflict && fault?.message.contains(words) == true)
                #expect(refusal?.code == .conflict && refusal?.message.contains(words) == true)
            }
            #expect(log.subjects(next + "a").isEmpty)
            // One that would end is not left alone, nor is another connector.
            setting.withLock { $0 = #""inactive_threshold":60000000000"# }
            await #expect(throws: ConnectorError.self) { try await engine.version() }
            let other = await failure(engine, "b")
            #expect(other == nil)
            let before = log.subjects(next + "a").count
            _ = await failure(engine, "a")
            #expect(log.subjects(next + "a").count > before)
            setting.withLock { $0 = #""max_deliver":-1"# }
            _ = try await engine.version()
            let last = await failure(engine, "a")
            #expect(last == nil)
        }
    }

    @Test func `what a consumer leaves out that was changed a moment ago is read from the stream`() async throws {
        let answer: SteeredAnswer = { request in
            guard request.subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT.OUTBOX.a") else { return nil }
            let event = request.message(
                [],
                subject: "OUTBOX.e.1.x",
                reply: "$JS.ACK.OUTBOX.a.1.1.1.1767225600000000000.0",
                headers: "NATS/1.0\r\nNats-Msg-Size: 20"
            )
            return event + request.message([], headers: "NATS/1.0 404 No Messages")
        }
        try await NATSEngine.withFake(answer) { engine, _ in
            _ = try await engine.append([.numbered(1)], to: ["a"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.map(\.id) == ["event-1"])
            #expect(batch.damage == nil)
            #expect(batch.entries.map(\.bytes) == [OutboxEvent.numbered(1).payload.count])
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
            #expect(batch.entries.map(\.id) == ["event-1"])
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
}
