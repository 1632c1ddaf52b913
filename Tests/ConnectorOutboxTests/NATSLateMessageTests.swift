// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Answers and events that come after the host has stopped waiting for them.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(1))) struct NATSLateMessageTests {
    @Test func `an event that comes too late is given back, and need not wait for the end of its lease`()
        async throws
    {
        let store = FakeJetStream(["a"])
        let late = Mutex<[UInt8]>([])
        let returned = AsyncStream.makeStream(of: String.self)
        var answers = FakeNATSServer.Answers()
        answers.answer = { request in
            let frames = store.answer(request)
            let answer = Array(frames.joined())
            if request.payload == Array("-NAK".utf8) { returned.continuation.yield(request.subject) }
            return late.withLock { late in
                // The request for events is told that there are none; what it asked for comes with the next answer.
                if request.subject.contains("CONSUMER.MSG.NEXT") {
                    late = Array(frames.dropLast().joined())
                    return frames.last ?? []
                }
                defer { if request.subject.contains("CONSUMER.INFO") { late = [] } }
                return request.subject.contains("CONSUMER.INFO") ? late + answer : answer
            }
        }
        let server = try FakeNATSServer(answers)
        let settings = NATSSettings(url: server.url)
        let engine = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
        _ = try await engine.append([.numbered(1)], to: ["a"])
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.isEmpty)
        var subjects = returned.stream.makeAsyncIterator()
        #expect(await subjects.next()?.hasPrefix("$JS.ACK.OUTBOX.a.1.1.1.") == true)
        await engine.close()
        withExtendedLifetime(server) {}
    }

    @Test func `answers that all come later than a request is repeated count nevertheless`() async throws {
        let store = FakeJetStream(["a"])
        let late = Mutex<[String: [UInt8]]>([:])
        var answers = FakeNATSServer.Answers()
        answers.answer = { request in
            let answer = Array(store.answer(request).joined())
            // Each request is answered when the next one of its kind has come.
            return late.withLock { late in
                defer { late[request.subject] = answer }
                return late[request.subject] ?? []
            }
        }
        let server = try FakeNATSServer(answers)
        var settings = NATSSettings(url: server.url)
        settings.waits.answer = 20_000_000
        let engine = try await NATSEngine(settings, paths: ["a"], now: { OutboxEvent.start })
        let one = try await engine.append([.numbered(1)], to: ["a"])
        #expect(one.isApplied == [true])
        let two = try await engine.append([.numbered(2), .numbered(3)], to: ["a"])
        #expect(two.isApplied == [true, true])
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(!batch.isEmpty)
        await engine.close()
        withExtendedLifetime(server) {}
    }
}
