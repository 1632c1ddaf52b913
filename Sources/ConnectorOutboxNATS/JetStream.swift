// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// Sends requests to JetStream and awaits their answers (docs.nats.io/reference/reference-protocols/nats_api_reference).
struct JetStream: Sendable {
    let connection: NATSConnection
    /// Measures the waits for answers; the time of a network is never a test's.
    let clock = SystemHostClock()
    var waits = NATSSettings.Waits()
    /// What the subjects of requests begin with.
    static let api = "$JS.API."
    /// What the server refuses.
    struct Refusal: Error {
        /// As in HTTP.
        var code: Int64
        /// JetStream's own number.
        var number: Int64
        /// The server's words.
        var description: String

        /// Whether the server may do it in a moment: it has no leader yet, or is short of something.
        var isPassing: Bool { code == 503 }

        /// Whether there are fewer servers than replicas: more may come, or may have been away.
        var isForPeers: Bool { number == 10_005 }

        /// Whether the message does not exist: there is none, or none with that number to read or delete.
        var isForAbsence: Bool { [10_037, 10_043, 10_057].contains(number) }
    }

    // MARK: Answers

    /// Sends a message and awaits its answer; sends it again if there is none.
    ///
    /// - Throws: `storage` if there is no answer in time: the message may or may not have been stored.
    func send(_ message: Message) async throws(ConnectorError) -> NATSMessage {
        let deadline = clock.now().saturatingAdding(waits.limit)
        while true {
            let end = OneShot<NATSMessage?>()
            let number = connection.begin { answer in
                end.send(Self.isAnswer(answer) ? answer : nil)
                return true
            }
            defer { connection.end(number) }
            try connection.send(message.data, to: message.subject, reply: number, message.headers)
            let result = await end.wait(by: clock.now().saturatingAdding(waits.answer), on: clock)
            if let answer = result ?? nil { return answer }
            try await backOff(isReachable: result == nil, until: deadline)
        }
    }

    /// Whether this is an answer, and not the notice that no server listens, or that none can answer yet.
    private static func isAnswer(_ answer: NATSMessage) -> Bool {
        answer.status != 503 && !(refusal(answer)?.isPassing ?? false)
    }

    /// Waits before the next attempt if no server listens.
    ///
    /// - Throws: `storage` if there is no time left.
    func backOff(isReachable: Bool, until deadline: UInt64) async throws(ConnectorError) {
        guard clock.now() < deadline, !Task.isCancelled else {
            throw ConnectorError(
                .storage,
                isReachable
                    ? "the outbox cannot be used: the NATS servers do not answer"
                    : "the outbox cannot be used: no NATS server offers JetStream for the stream",
                fix: "look at the servers: nats-server --jetstream, and a majority of the cluster must run",
                isRetryable: true
            )
        }
        if !isReachable { _ = await OneShot<Void>().wait(by: clock.now().saturatingAdding(waits.pause), on: clock) }
    }

    /// Sends several messages and awaits one answer to each; sends those without an answer again.
    ///
    /// - Returns: The answers, in the order of the messages.
    /// - Throws: `storage` if one of them has no answer in time: it may or may not have been stored.
    func send(_ messages: [Message]) async throws(ConnectorError) -> [NATSMessage] {
        if messages.count == 1 { return [try await send(messages[0])] }
        let round = Round(messages.count)
        let deadline = clock.now().saturatingAdding(waits.limit)
        while true {
            let isReachable = try await attempt(messages, round)
            if let answers = round.answers { return answers }
            try await backOff(isReachable: isReachable, until: deadline)
        }
    }

    /// A message that expects an answer.
    struct Message: Sendable {
        var subject: String
        var data: [UInt8] = []
        var headers = NATSHeaders()
    }

    /// The answers to some messages, in whatever order they come.
    private final class Round: Sendable {
        private struct State {
            var answers: [NATSMessage?]
            var missing: Int
        }

        private let state: Mutex<State>

        init(_ count: Int) {
            state = Mutex(State(answers: Array(repeating: nil, count: count), missing: count))
        }

        /// All answers; nil if some are missing.
        var answers: [NATSMessage]? {
            state.withLock { $0.missing == 0 ? $0.answers.compactMap(\.self) : nil }
        }

        /// The messages without an answer.
        var missing: [Int] { state.withLock { state in state.answers.indices.filter { state.answers[$0] == nil } } }

        /// Takes an answer; true if it is the last one.
        func take(_ answer: NATSMessage, of index: Int) -> Bool {
            state.withLock { state in
                guard state.answers[index] == nil else { return false }
                state.answers[index] = answer
                state.missing -= 1
                return state.missing == 0
            }
        }
    }

    /// Sends the messages that have no answer yet, and awaits their answers for a while.
    ///
    /// - Returns: Whether a server listens.
    private func attempt(_ messages: [Message], _ round: Round) async throws(ConnectorError) -> Bool {
        let end = OneShot<Bool>()
        let missing = round.missing
        let left = Mutex(missing.count)
        var numbers: [UInt64] = []
        defer { for number in numbers { connection.end(number) } }
        for index in missing {
            let number = connection.begin { answer in
                if Self.isAnswer(answer), round.take(answer, of: index) { end.send(true) }
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { end.send(false) }
                return true
            }
            numbers.append(number)
            let message = messages[index]
            try connection.send(message.data, to: message.subject, reply: number, message.headers)
        }
        return await end.wait(by: clock.now().saturatingAdding(waits.answer), on: clock) ?? true
    }

    /// What an answer refuses; nil if it does not. Only small answers are looked at.
    static func refusal(_ answer: NATSMessage) -> Refusal? {
        guard answer.event == nil, !answer.data.isEmpty, answer.data.contains(text: "\"error\":"),
            let error = (try? JSONValue(parsing: answer.data))?["error"]
        else { return nil }
        return Refusal(
            code: error["code"]?.integer ?? 500,
            number: error["err_code"]?.integer ?? 0,
            description: error["description"]?.string ?? "no reason given"
        )
    }

    /// Makes a request.
    ///
    /// - Parameter operation: What follows ``api``.
    /// - Returns: The answer, or what the server refuses.
    func call(
        _ operation: String,
        _ body: JSONValue? = nil
    ) async throws(ConnectorError) -> Result<JSONValue, Refusal> {
        let message = Message(subject: Self.api + operation, data: body?.utf8() ?? [])
        let answer = try await send(message)
        if let refusal = Self.refusal(answer) { return .failure(refusal) }
        do throws(ConnectorError) {
            return .success(try JSONValue(parsing: answer.data))
        } catch {
            throw connection.error(.storage, "the NATS server answers \(operation) with garbage", cause: "\(error)")
        }
    }

    /// Makes a request that JetStream has no reason to refuse.
    func request(_ operation: String, _ body: JSONValue? = nil) async throws(ConnectorError) -> JSONValue {
        switch try await call(operation, body) {
        case .success(let answer): return answer
        case .failure(let refusal): throw error(refusal)
        }
    }

    /// What the server refuses, as an error.
    func error(_ refusal: Refusal) -> ConnectorError {
        connection.error(
            .storage,
            "the outbox cannot be used: NATS: \(refusal.description)",
            cause: "JetStream's error \(refusal.number)",
            isRetryable: refusal.isPassing || refusal.isForPeers
        )
    }
}

extension [UInt8] {
    /// Whether the bytes contain a text.
    func contains(text: StaticString) -> Bool { end(of: text) != nil }

    /// The decimal number that follows a text.
    func number(after text: StaticString) -> UInt64? {
        guard var place = end(of: text) else { return nil }
        while place < count, self[place] == UInt8(ascii: " ") { place += 1 }
        return UInt64(String(decoding: self[place...].prefix { 48...57 ~= $0 }, as: UTF8.self))
    }

    /// Where a text ends that the bytes contain. Every acknowledgement is searched, so this makes no slices.
    private func end(of text: StaticString) -> Int? {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return nil }
        return (length...count).first { end in
            (0..<length).allSatisfy { unsafe self[end - length + $0] == text.utf8Start[$0] }
        }
    }
}
