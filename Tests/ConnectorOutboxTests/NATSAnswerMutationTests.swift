// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// NATS servers that lie, stammer and hang up: whatever they say, every call ends, and nothing traps.
@Suite(.enabled(if: NATSEngine.libraryFailure == nil), .timeLimit(.minutes(10))) struct NATSAnswerMutationTests {
    /// Damages answers at random.
    private final class Mutator: Sendable {
        private let random: Mutex<SeededGenerator>
        /// One in this many answers is damaged.
        private let rate: Int

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            rate = Int.random(in: 2...12, using: &random)
            self.random = Mutex(random)
        }

        /// The bytes of some frames, with some of them damaged.
        func damaged(_ frames: [[UInt8]]) -> [UInt8] {
            random.withLock { random in
                frames.flatMap { frame in
                    Int.random(in: 0..<rate, using: &random) == 0 ? random.damaged(frame) : frame
                }
            }
        }
    }

    private func server(seed: UInt64) throws -> FakeNATSServer {
        let (store, mutator) = (FakeJetStream(["a", "b"]), Mutator(seed: seed))
        var answers = FakeNATSServer.Answers()
        answers.answer = { mutator.damaged(store.answer($0)) }
        return try FakeNATSServer(answers)
    }

    private func settings(_ server: FakeNATSServer) -> NATSSettings {
        var settings = NATSSettings(url: server.url)
        (settings.waits.connection, settings.waits.answer) = (300_000_000, 20_000_000)
        (settings.waits.pause, settings.waits.limit) = (2_000_000, 60_000_000)
        return settings
    }

    @Test func `no damaged answer traps, and every call ends with a result or an error`() async throws {
        try await rounds { round in
            let server = try server(seed: fuzzSeed &+ UInt64(round))
            _ = await result { () throws(ConnectorError) in
                try await NATSEngine.migrate(settings(server), paths: ["a", "b"])
            }
            let opened = await result { () throws(ConnectorError) in
                try await NATSEngine(settings(server), paths: ["a", "b"], now: { OutboxEvent.start })
            }
            guard case .success(let engine) = opened else { return }
            await use(engine)
            await engine.close()
            withExtendedLifetime(server) {}
        }
    }

    /// Runs rounds, eight at a time: most of a round is spent waiting for a server that says nothing more.
    private func rounds(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<fuzzRounds {
                if round >= 8 { try await group.next() }
                group.addTask { try await body(round) }
            }
            try await group.waitForAll()
        }
    }

    @Test func `no damaged greeting traps, and without a connection the error says that the outbox cannot be used`()
        async throws
    {
        try await rounds { round in
            var random = SeededGenerator(seed: fuzzSeed ^ 0x6E61 &+ UInt64(round))
            let (greeting, refusal) = (random.damaged(FakeNATSServer.Answers().greeting()), random.refusal())
            var answers = FakeNATSServer.Answers()
            answers.greeting = { greeting }
            if round.isMultiple(of: 2) { answers.welcome = { _ in refusal } }
            let server = try FakeNATSServer(answers)
            let connection = await result { () throws(ConnectorError) in
                try await NATSConnection.connect(settings(server), renewed: { settings(server) })
            }
            switch connection {
            case .success(let connection): await connection.close()
            case .failure(let error): #expect(error.message.hasPrefix("the outbox cannot be used: "), "\(error)")
            }
            withExtendedLifetime(server) {}
        }
    }

    /// Calls everything that an outbox calls.
    private func use(_ engine: NATSEngine) async {
        let now = OutboxEvent.start
        var statistics = StatisticsTracker()
        for number in 1...3 {
            _ = await result { () throws(ConnectorError) in
                let step = try await engine.append([.numbered(number), .numbered(10 + number)], to: ["a", "b"])
                statistics.note(.appended(count: 2, bytes: 40, oldest: now), of: "a", revision: step.revision)
            }
            for path in ["a", "b"] {
                _ = await result { () throws(ConnectorError) in
                    let batch = try await engine.batch(for: path, upTo: BatchLimits(count: 2), now: now)
                    guard !batch.isEmpty else { return }
                    let failures = batch.entries.map { _ in DeliveryFailure(.invalid, "no") as DeliveryFailure? }
                    let answer: Result<[DeliveryAnswer], ConnectorError> = .success(
                        batch.entries.indices.map { $0 == 0 ? .rejected("no") : .retry("later", code: .conflict) }
                    )
                    let decision = DeliveryDecision(answer, of: batch) { entry, _ in
                        Timestamp(nanoseconds: now.nanoseconds + UInt64(entry.attempts.saturatingAdding(1).signum()))
                    }
                    try await engine.settle(batch, decision.outcomes, Attempt(at: now, failures: failures))
                }
                engine.release(path)
            }
        }
        _ = await result { () throws(ConnectorError) in
            statistics.begin()
            let reading = try await engine.read()
            statistics.end(reading)
            for path in statistics.paths {
                statistics.note(.appended(count: 1, bytes: 1, oldest: nil), of: path, revision: .max)
                statistics.note(
                    .settled(delivered: 1, dead: 1, dropped: 1, bytes: 9, oldest: nil, at: now),
                    of: path,
                    revision: .max
                )
                _ = statistics[path]?.oldest.map { "\($0)" }
            }
        }
        for selection in [RecordSelection(limit: 20), RecordSelection(states: [.dead], limit: 5)] {
            _ = await result { () throws(ConnectorError) in
                _ = try await engine.records(selection).map { "\($0.event.createdAt) \($0.attempts)" }
            }
        }
        _ = await result { () throws(ConnectorError) in try await engine.replay(RecordSelection(limit: 5)) }
        _ = await result { () throws(ConnectorError) in try await engine.drop(RecordSelection(limit: 5)) }
        _ = await result { () throws(ConnectorError) in try await engine.dropOldest(10, of: "a") }
        _ = await result { () throws(ConnectorError) in try await engine.version() }
        _ = await result { () throws(ConnectorError) in try await engine.schema.trim(keeping: 0) }
    }

    /// The result of a call; its error must be one that an operator can understand.
    private func result<Value>(
        _ body: () async throws(ConnectorError) -> Value
    ) async -> Result<Value, ConnectorError> {
        do throws(ConnectorError) {
            return .success(try await body())
        } catch {
            #expect([.storage, .conflict, .missing, .tooLarge].contains(error.code), "\(error)")
            return .failure(error)
        }
    }
}

extension SeededGenerator {
    fileprivate static let numbers = [
        "-1", "0", "1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
        "1e308", "-0.5", "4294967296", "null", "\"7\"", "[]", "{}", "true", "",
    ]

    /// A frame with its number, its text, its length or its end changed, or with something before or after it.
    fileprivate mutating func damaged(_ frame: [UInt8]) -> [UInt8] {
        switch Int.random(in: 0..<10, using: &self) {
        case 0, 1, 2, 3: return relabelled(frame) { $0.replacingNumber(using: &$1) }
        case 4: return relabelled(frame) { $0.replacingByte(using: &$1) }
        case 5: return relabelled(frame) { Array($0.prefix(Int.random(in: 0...$0.count, using: &$1))) }
        case 6: return []
        case 7: return frame + frame
        case 8: return refusal() + frame
        default:
            var frame = frame
            if !frame.isEmpty { frame.removeLast(Int.random(in: 1...min(frame.count, 8), using: &self)) }
            return frame
        }
    }

    /// What a server says that refuses to continue.
    fileprivate mutating func refusal() -> [UInt8] {
        let texts = [
            "-ERR 'Authorization Violation'\r\n", "-ERR 'Maximum Payload Violation'\r\n", "-ERR\r\n",
            "-ERR \(String(repeating: "x", count: 5000))\r\n", "+OK\r\n", "PING\r\n", "PONG\r\n", "INFO {}\r\n",
            "INFO \r\n",
            "INFO {\"max_payload\":-1,\"headers\":true}\r\n", "MSG a 1 -1\r\n", "MSG a 1 99999999999999999999\r\n",
            "MSG a 99 3\r\nabc\r\n", "HMSG a 1 12 4\r\nNATS/1.0\r\n\r\n\r\n", "HMSG a 1 4 9\r\nNATS/1.0x\r\n", "\r\n",
            "MSG\r\n",
        ]
        return Array((texts.randomElement(using: &self) ?? "").utf8)
    }

    /// A frame with changed content, whose length is corrected or left wrong.
    private mutating func relabelled(_ frame: [UInt8], _ change: ([UInt8], inout Self) -> [UInt8]) -> [UInt8] {
        guard let end = frame.firstIndex(of: UInt8(ascii: "\n")), end + 3 <= frame.count,
            frame.starts(with: Array("MSG".utf8))
        else { return change(frame, &self) }
        let content = change(Array(frame[(end + 1)..<(frame.count - 2)]), &self)
        var words = String(decoding: frame[..<end], as: UTF8.self).split(separator: " ").map { String($0) }
        words[words.count - 1] = String(content.count)
        return Array((words.joined(separator: " ") + "\r\n").utf8) + content + Array("\r\n".utf8)
    }
}

extension [UInt8] {
    /// These bytes with one run of digits replaced by a number that nobody expects.
    fileprivate func replacingNumber(using random: inout SeededGenerator) -> [UInt8] {
        let starts = indices.filter { index in
            (48...57).contains(self[index]) && (index == 0 || !(48...57).contains(self[index - 1]))
        }
        guard let start = starts.randomElement(using: &random) else { return self }
        let end = self[start...].firstIndex { !(48...57).contains($0) } ?? count
        let number = SeededGenerator.numbers.randomElement(using: &random) ?? "0"
        return Array(self[..<start]) + Array(number.utf8) + Array(self[end...])
    }

    /// These bytes with one of them replaced by any other.
    fileprivate func replacingByte(using random: inout SeededGenerator) -> [UInt8] {
        guard let index = indices.randomElement(using: &random) else { return self }
        var bytes = self
        bytes[index] = UInt8.random(in: 0...255, using: &random)
        return bytes
    }
}
