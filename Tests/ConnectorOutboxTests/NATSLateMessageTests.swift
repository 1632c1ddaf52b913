// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Events that come after the host has stopped waiting for them.
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
}
