// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// A client of the JetStream API (docs.nats.io/reference/reference-protocols/nats_api_reference).
struct JetStream: Sendable {
    let connection: NATSConnection
    /// The clock for timeouts: always the system's, also in tests, since servers do not follow a manual clock.
    let clock = SystemHostClock()
    var waits = NATSSettings.Waits()
    /// The prefix of the subjects of API requests.
    static let api = "$JS.API."
    /// An error response of the server.
    struct Refusal: Error {
        /// The status code, as in HTTP.
        var code: Int64
        /// The error code of JetStream.
        var number: Int64
        /// The server's description.
        var description: String

        /// Whether the error is transient: the server has no leader, or lacks a resource.
        var isTransient: Bool { code == 503 }

        /// Whether there are fewer servers than replicas, which changes when servers join or return.
        var lacksPeers: Bool { number == 10_005 }

        /// Whether the message to read or delete does not exist.
        var isNotFound: Bool { [10_037, 10_043, 10_057].contains(number) }
    }

    // MARK: Requests

    /// Sends a message and awaits the response; repeats it after a timeout.
    ///
    /// - Throws: `storage` if there is no response in time: the message may or may not have been stored.
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

    /// Whether a message is a response, rather than a notice that no server listens or none can respond yet.
    private static func isAnswer(_ answer: NATSMessage) -> Bool {
        answer.status != 503 && !(refusal(answer)?.isTransient ?? false)
    }

    /// Waits before the next attempt if no server listens.
    ///
    /// - Throws: `storage` if the deadline has passed or the task is cancelled.
    func backOff(isReachable: Bool, until deadline: UInt64) async throws(ConnectorError) {
        guard clock.now() < deadline, !Task.isCancelled else {
            throw ConnectorError(
                .storage,
                isReachable
                    ? "the outbox cannot be used: the NATS servers do not respond"
                    : "the outbox cannot be used: no NATS server offers JetStream for the stream",
                fix: "check that the servers run with --jetstream, and that a majority of the cluster is up",
                isRetryable: true
            )
        }
        if !isReachable { _ = await OneShot<Void>().wait(by: clock.now().saturatingAdding(waits.pause), on: clock) }
    }

    /// Sends several messages and awaits a response to each; repeats those without one after a timeout.
    ///
    /// - Returns: The responses, in the order of the messages.
    /// - Throws: `storage` if one of them has no response in time: the message may or may not have been stored.
    func send(_ messages: [Message]) async throws(ConnectorError) -> [NATSMessage] {
        if messages.count == 1 { return [try await send(messages[0])] }
        let responses = ResponseCollector(messages.count)
        let deadline = clock.now().saturatingAdding(waits.limit)
        while true {
            let isReachable = try await attempt(messages, responses)
            if let answers = responses.answers { return answers }
            try await backOff(isReachable: isReachable, until: deadline)
        }
    }

    /// A message that expects a response.
    struct Message: Sendable {
        var subject: String
        var data: [UInt8] = []
        var headers = NATSHeaders()
    }

    /// Collects the responses to several messages, which arrive in any order.
    private final class ResponseCollector: Sendable {
        private struct State {
            var answers: [NATSMessage?]
            var missing: Int
        }

        private let state: Mutex<State>

        init(_ count: Int) {
            state = Mutex(State(answers: Array(repeating: nil, count: count), missing: count))
        }

        /// All responses; nil while some are missing.
        var answers: [NATSMessage]? {
            state.withLock { $0.missing == 0 ? $0.answers.compactMap(\.self) : nil }
        }

        /// The indices of the messages without a response.
        var missing: [Int] { state.withLock { state in state.answers.indices.filter { state.answers[$0] == nil } } }

        /// Adds a response.
        ///
        /// - Returns: Whether it is the last one.
        func add(_ answer: NATSMessage, of index: Int) -> Bool {
            state.withLock { state in
                guard state.answers[index] == nil else { return false }
                state.answers[index] = answer
                state.missing -= 1
                return state.missing == 0
            }
        }
    }

    /// Sends the messages without a response, and awaits the responses until the timeout of one attempt.
    ///
    /// - Returns: Whether a server listens.
    private func attempt(_ messages: [Message], _ responses: ResponseCollector) async throws(ConnectorError) -> Bool {
        let end = OneShot<Bool>()
        let missing = responses.missing
        let left = Mutex(missing.count)
        var numbers: [UInt64] = []
        defer { for number in numbers { connection.end(number) } }
        for index in missing {
            let number = connection.begin { answer in
                if Self.isAnswer(answer), responses.add(answer, of: index) { end.send(true) }
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

    /// The error in a response; nil if it is successful. A message that carries an event is not parsed.
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
    /// - Parameter operation: The subject without the prefix ``api``.
    /// - Returns: The response, or the server's error.
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
            throw connection.error(
                .storage,
                "the NATS server sent an invalid response to \(operation)",
                cause: "\(error)"
            )
        }
    }

    /// Makes a request, and throws the server's error, if any.
    func request(_ operation: String, _ body: JSONValue? = nil) async throws(ConnectorError) -> JSONValue {
        switch try await call(operation, body) {
        case .success(let answer): return answer
        case .failure(let refusal): throw error(refusal)
        }
    }

    /// Converts the server's error.
    func error(_ refusal: Refusal) -> ConnectorError {
        connection.error(
            .storage,
            "the outbox cannot be used: NATS: \(refusal.description)",
            cause: "JetStream's error \(refusal.number)",
            isRetryable: refusal.isTransient || refusal.lacksPeers
        )
    }
}

extension [UInt8] {
    /// Whether the bytes contain a text.
    func contains(text: StaticString) -> Bool { end(of: text) != nil }

    /// The decimal number that follows a text.
    func number(after text: StaticString) -> UInt64? {
        guard var index = end(of: text) else { return nil }
        while index < count, self[index] == UInt8(ascii: " ") { index += 1 }
        return UInt64(String(decoding: self[index...].prefix { 48...57 ~= $0 }, as: UTF8.self))
    }

    /// The index after the first occurrence of a text; nil if there is none. Creates no slices, since every acknowledgement is
    /// searched.
    private func end(of text: StaticString) -> Int? {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return nil }
        return (length...count).first { end in
            (0..<length).allSatisfy { unsafe self[end - length + $0] == text.utf8Start[$0] }
        }
    }
}
