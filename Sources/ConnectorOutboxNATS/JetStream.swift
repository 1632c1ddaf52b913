// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
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

        /// Whether the error is transient: no server listens, or the stream has no leader.
        var isTransient: Bool { code == 503 && !lacksSpace }

        /// Whether the server has denied the request, and not JetStream.
        var isDenied: Bool { code == Int64(NATSMessage.denied) && number == 0 }

        /// Whether the stream, the account or the server has no room left.
        var lacksSpace: Bool { [10_002, 10_023, 10_047, 10_077].contains(number) }

        /// Whether the server is still storing an earlier message with the same id, and cannot say yet what becomes of
        /// it.
        var isInProcess: Bool { number == 10_158 }

        /// Whether the consumer, or its stream, does not exist.
        var lacksConsumer: Bool { [10_014, 10_059].contains(number) }

        /// Whether there are fewer servers than replicas, which changes when servers join or return.
        var lacksPeers: Bool { number == 10_005 }

        /// Whether there is a consumer of that name with other settings.
        var consumerExists: Bool { [10_013, 10_148].contains(number) }

        /// Whether the stream does not exist.
        var lacksStream: Bool { number == 10_059 }

        /// Whether the message is larger than the stream takes.
        var isTooLarge: Bool { number == 10_054 }

        /// Whether the account has no room for another stream or consumer, or for their data.
        var exceedsAccount: Bool { [10_002, 10_026, 10_027].contains(number) }

        /// Whether the message to read or delete does not exist.
        var isNotFound: Bool { [10_037, 10_043, 10_057].contains(number) }
    }

    // MARK: Requests

    /// Sends a message and awaits the response; repeats it after a timeout.
    ///
    /// - Throws: `storage` if there is no response in time: the message may or may not have been stored.
    func send(_ message: Message) async throws(ConnectorError) -> NATSMessage { try await send([message])[0] }

    /// The notice in a message which says that no server listens, that none can respond yet, or that the user may not send the request;
    /// nil for a response.
    private static func notice(_ answer: NATSMessage) -> Refusal? {
        if answer.status == NATSMessage.denied {
            return Refusal(code: Int64(NATSMessage.denied), number: 0, description: answer.words ?? "")
        }
        if answer.status == 503 { return Refusal(code: 503, number: 0, description: "no server listens") }
        return refusal(answer).flatMap { $0.isTransient ? $0 : nil }
    }

    /// Waits before the next attempt if no server listens. If nothing at all has arrived since the request began, reconnects.
    ///
    /// - Parameter notice: What the server said last instead of a response.
    /// - Throws: `storage` if the user may not send the request, the deadline has passed, or the task is cancelled.
    func backOff(
        isReachable: Bool,
        _ notice: Refusal? = nil,
        until deadline: UInt64
    ) async throws(ConnectorError) {
        if let notice, notice.isDenied { throw connection.denial(notice.description) }
        guard clock.now() < deadline, !Task.isCancelled else {
            let failure = connection.error(
                .storage,
                isReachable
                    ? "the outbox cannot be used: the NATS servers do not respond"
                    : "the outbox cannot be used: no NATS server offers JetStream for the stream",
                fix: "check that the servers run with --jetstream, and that a majority of the cluster is up"
                    + (isReachable ? "" : "; a leaf node needs JetStream of its own, since domains are not supported"),
                cause: notice?.description,
                isRetryable: true
            )
            if !Task.isCancelled { connection.renew(ifSilentSince: deadline - min(deadline, waits.limit), failure) }
            throw failure
        }
        if !isReachable { await wait(for: waits.pause) }
    }

    /// Waits for a time in nanoseconds.
    func wait(for time: UInt64) async {
        _ = await OneShot<Void>().wait(by: clock.now().saturatingAdding(time), on: clock)
    }

    /// Sends several messages and awaits a response to each; repeats those without one after a timeout.
    ///
    /// All attempts of a message have one reply subject, so that a response counts to whichever of them it comes: on a slow line, each
    /// takes longer than the timeout.
    ///
    /// - Returns: The responses, in the order of the messages.
    /// - Throws: `storage` if one of them has no response in time: the message may or may not have been stored.
    func send(_ messages: [Message]) async throws(ConnectorError) -> [NATSMessage] {
        let responses = ResponseCollector(messages.count)
        let numbers = messages.indices.map { index in
            connection.begin(messages[index].subject) { responses.take($0, of: index) }
        }
        defer { for number in numbers { connection.end(number) } }
        let deadline = clock.now().saturatingAdding(waits.limit)
        while true {
            let (missing, end) = responses.beginAttempt()
            for index in missing {
                let message = messages[index]
                try connection.send(message.data, to: message.subject, reply: numbers[index], message.headers)
            }
            let isReachable = await end.wait(by: clock.now().saturatingAdding(waits.answer), on: clock) ?? true
            if let answers = responses.answers { return answers }
            try await backOff(isReachable: isReachable, responses.notice, until: deadline)
        }
    }

    /// A message that expects a response.
    struct Message: Sendable {
        var subject: String
        var data: [UInt8] = []
        var headers = NATSHeaders()

        /// Its size in bytes, including the headers.
        var size: Int { headers.size + data.count }
    }

    /// Collects the responses to several messages, which arrive in any order.
    private final class ResponseCollector: Sendable {
        private struct State {
            var answers: [NATSMessage?]
            var missing: Int
            /// The indices of the messages to which nothing has come since the attempt began.
            var awaited: Set<Int> = []
            /// The end of the attempt: whether a server listens.
            var end = OneShot<Bool>()
            var notice: Refusal?
        }

        private let state: Mutex<State>

        init(_ count: Int) {
            state = Mutex(State(answers: Array(repeating: nil, count: count), missing: count))
        }

        /// All responses; nil while some are missing.
        var answers: [NATSMessage]? {
            state.withLock { $0.missing == 0 ? $0.answers.compactMap(\.self) : nil }
        }

        /// The last notice that came instead of a response; nil if none did.
        var notice: Refusal? { state.withLock(\.notice) }

        /// Begins an attempt.
        ///
        /// - Returns: The indices of the messages without a response, and the end of the attempt: true after the last response, false
        ///   once each of the messages has a response or a notice.
        func beginAttempt() -> (missing: [Int], end: OneShot<Bool>) {
            state.withLock { state in
                let missing = state.answers.indices.filter { state.answers[$0] == nil }
                (state.awaited, state.end) = (Set(missing), OneShot())
                // The last one may have come since the attempt before.
                if missing.isEmpty { state.end.send(true) }
                return (missing, state.end)
            }
        }

        /// Takes what came for a message.
        ///
        /// - Returns: Whether it is the response.
        func take(_ answer: NATSMessage, of index: Int) -> Bool {
            let notice = JetStream.notice(answer)
            let (end, isComplete) = state.withLock { state -> (OneShot<Bool>?, Bool) in
                if let notice {
                    state.notice = notice
                } else if state.answers[index] == nil {
                    state.answers[index] = answer
                    state.missing -= 1
                }
                state.awaited.remove(index)
                return (state.awaited.isEmpty ? state.end : nil, state.missing == 0)
            }
            end?.send(isComplete)
            return notice == nil
        }
    }

    /// The error in a response; nil if it is successful. A message that carries an event is not parsed.
    ///
    /// The error is one of the first members of a response, which may hold a whole event.
    static func refusal(_ answer: NATSMessage) -> Refusal? {
        guard answer.event == nil, answer.data.prefix(1024).contains(text: "\"error\":"),
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
    ///
    /// - Parameter stream: The stream that must exist; nil if none has to.
    func request(
        _ operation: String,
        _ body: JSONValue? = nil,
        of stream: String? = nil
    ) async throws(ConnectorError) -> JSONValue {
        switch try await call(operation, body) {
        case .success(let answer): return answer
        case .failure(let refusal): throw error(refusal, of: stream)
        }
    }

    /// Converts the server's error.
    ///
    /// - Parameters:
    ///   - stream: The stream that the request needed; nil if it needed none.
    ///   - consumer: The name of the consumer that it needed; nil if it needed none.
    func error(_ refusal: Refusal, of stream: String? = nil, _ consumer: String? = nil) -> ConnectorError {
        // The server's words do not name what it lacks.
        if let stream, refusal.lacksStream { return missing(stream: stream) }
        if let stream, let consumer, refusal.lacksConsumer {
            return missing("the stream \(stream) has no consumer for \(NATSLayout.path(consumer) ?? consumer)")
        }
        return connection.error(
            refusal.isTooLarge ? .tooLarge : .storage,
            (refusal.lacksConsumer ? "the outbox is not prepared" : "the outbox cannot be used")
                + ": NATS: \(refusal.description)",
            fix: refusal.fix,
            cause: "JetStream's error \(refusal.number)",
            isRetryable: refusal.isTransient || refusal.lacksSpace || refusal.lacksPeers
        )
    }

    /// The error for a stream that does not exist.
    func missing(stream: String) -> ConnectorError { missing("the NATS servers have no stream \(stream)") }

    /// The error for something that `outbox migrate` creates, and that does not exist.
    func missing(_ message: String) -> ConnectorError {
        connection.error(.missing, "the outbox is not prepared: \(message)", fix: NATSSchema.migration)
    }
}

extension JetStream.Refusal {
    /// What an operator can do about it; nil if the description has to say enough.
    fileprivate var fix: String? {
        if exceedsAccount {
            return "raise the limits of the account for JetStream in the server's configuration"
                + (lacksSpace ? Self.waiting : "")
        }
        if lacksSpace { return "raise \(fullLimit)\(Self.waiting)" }
        if lacksConsumer { return NATSSchema.migration }
        if isTooLarge { return "send a smaller event, or raise max_msg_size of the stream" }
        return Self.settings[number]
    }

    /// The limit that leaves no room. A stream has one number for all of its own, and only its words say which it is.
    private var fullLimit: String {
        if let limit = Self.streamLimits.first(where: { description.contains($0.words) }) {
            return "\(limit.key) of the stream"
        }
        return "max_bytes of the stream, or the limits of JetStream in the server's configuration"
    }

    /// The limits of a stream, and what a server says when one is reached.
    private static let streamLimits = [
        (words: "maximum messages", key: "max_msgs"), (words: "maximum bytes", key: "max_bytes"),
    ]

    /// What else makes room.
    private static let waiting = ", or let vendors take what waits: the first waiting event keeps all later ones"

    /// What to do about settings of servers and accounts that streams and consumers of an outbox do not fit.
    private static let settings: [Int64: String] = [
        10_052: "allow a duplicate_window of two minutes in the limits of JetStream on the servers",
        10_074: "lower \"replicas\" of \"outbox\", or run that many servers with JetStream in one cluster",
        10_113:
            "the account requires max_bytes: make the streams with the tools of NATS, then run: connector-host outbox migrate",
        10_121: "allow a max_ack_pending of 65536 in the limits of JetStream for the account and on the servers",
    ]
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Whether the bytes contain a text.
    func contains(text: StaticString) -> Bool { end(of: text) != nil }

    /// The decimal number that follows a text.
    func number(after text: StaticString) -> UInt64? {
        guard var index = end(of: text) else { return nil }
        while index < endIndex, self[index] == UInt8(ascii: " ") { index += 1 }
        return UInt64(String(decoding: self[index...].prefix { 48...57 ~= $0 }, as: UTF8.self))
    }

    /// The index after the first occurrence of a text; nil if there is none. Creates no slices, since every acknowledgement is
    /// searched.
    private func end(of text: StaticString) -> Int? {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return nil }
        return (startIndex + length...endIndex).first { end in
            (0..<length).allSatisfy { unsafe self[end - length + $0] == text.utf8Start[$0] }
        }
    }
}
