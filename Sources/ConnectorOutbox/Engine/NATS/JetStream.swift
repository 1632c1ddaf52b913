// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
internal import Synchronization

/// The requests of JetStream that the outbox makes (docs.nats.io/reference/reference-protocols/nats_api_reference).
struct JetStream: Sendable {
    let connection: NATSConnection
    /// Measures the waits for answers; the time of a network is never a test's.
    let clock = SystemHostClock()
    /// How long a request waits for its answer before it is made again.
    private static let patience: UInt64 = 2_000_000_000
    /// How long a request is made again; a cluster that has lost a node elects another leader meanwhile.
    private static let limit: UInt64 = 15_000_000_000
    /// The wait before a request is made again that nobody could answer.
    private static let pause: UInt64 = 100_000_000
    /// What the subjects of requests begin with.
    private static let api = "$JS.API."
    /// How often a message is sent under one name, as long as nobody can say whether it was stored.
    private static let renaming = 20

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

        /// Whether a message is not there: none was found, its number was not, or it could not be deleted therefore.
        var isForAbsence: Bool { [10_037, 10_043, 10_057].contains(number) }
    }

    // MARK: Answers

    /// Sends a message, and waits for its answer. Without one it is sent again.
    ///
    /// - Throws: `storage` if there is no answer in time: nobody knows whether the message was stored.
    func ask(_ message: Message) async throws(ConnectorError) -> NATSMessage {
        let deadline = clock.now().saturatingAdding(Self.limit)
        while true {
            let end = OneShot<NATSMessage?>()
            let number = connection.begin { answer in
                end.send(Self.isAnswer(answer) ? answer : nil)
                return true
            }
            defer { connection.end(number) }
            try connection.send(message.data, to: message.subject, reply: number, message.headers)
            let result = await end.wait(by: clock.now().saturatingAdding(Self.patience), on: clock)
            if let answer = result ?? nil { return answer }
            try await goOn(isReachable: result == nil, until: deadline)
        }
    }

    /// Whether somebody has answered; nobody listens, or nobody can say yet, if not.
    private static func isAnswer(_ answer: NATSMessage) -> Bool {
        answer.status != 503 && !(refusal(answer)?.isPassing ?? false)
    }

    /// Waits a while if nobody listens.
    ///
    /// - Throws: `storage` if there is no time left.
    private func goOn(isReachable: Bool, until deadline: UInt64) async throws(ConnectorError) {
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
        if !isReachable { _ = await OneShot<Void>().wait(by: clock.now().saturatingAdding(Self.pause), on: clock) }
    }

    /// Sends several messages, and waits for one answer to each. Those without an answer are sent again.
    ///
    /// - Returns: The answers, in the order of the messages.
    /// - Throws: `storage` if there is no answer to one of them in time: nobody knows whether it was stored.
    func ask(_ messages: [Message]) async throws(ConnectorError) -> [NATSMessage] {
        if messages.count == 1 { return [try await ask(messages[0])] }
        let round = Round(messages.count)
        let deadline = clock.now().saturatingAdding(Self.limit)
        while true {
            let isReachable = try await attempt(messages, round)
            if let answers = round.answers { return answers }
            try await goOn(isReachable: isReachable, until: deadline)
        }
    }

    /// One message, which wants an answer.
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

    /// Sends the messages that have no answer yet, and waits for a while.
    ///
    /// - Returns: Whether somebody listens.
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
        return await end.wait(by: clock.now().saturatingAdding(Self.patience), on: clock) ?? true
    }

    /// What an answer refuses; nil if it does not. Only small answers are looked at.
    private static func refusal(_ answer: NATSMessage) -> Refusal? {
        guard answer.event == nil, !answer.data.isEmpty, answer.data.contains(text: "\"error\":"),
            let error = (try? JSONValue(parsing: answer.data))?["error"]
        else { return nil }
        return Refusal(
            code: error["code"]?.integer ?? 500,
            number: error["err_code"]?.integer ?? 0,
            description: error["description"]?.string ?? "no reason given"
        )
    }

    /// Asks JetStream for something.
    ///
    /// - Parameter operation: What follows ``api``.
    /// - Returns: The answer, or what the server refuses.
    func call(
        _ operation: String,
        _ body: JSONValue? = nil
    ) async throws(ConnectorError) -> Result<JSONValue, Refusal> {
        let message = Message(subject: Self.api + operation, data: body?.utf8() ?? [])
        let answer = try await ask(message)
        if let refusal = Self.refusal(answer) { return .failure(refusal) }
        do throws(ConnectorError) {
            return .success(try JSONValue(parsing: answer.data))
        } catch {
            throw ConnectorError(.storage, "the NATS server answers \(operation) with garbage", cause: "\(error)")
        }
    }

    /// Asks JetStream for something that it has no reason to refuse.
    func must(_ operation: String, _ body: JSONValue? = nil) async throws(ConnectorError) -> JSONValue {
        switch try await call(operation, body) {
        case .success(let answer): return answer
        case .failure(let refusal): throw Self.error(refusal)
        }
    }

    static func error(_ refusal: Refusal) -> ConnectorError {
        ConnectorError(
            .storage,
            "the outbox cannot be used: NATS: \(refusal.description)",
            cause: "JetStream's error \(refusal.number)",
            isRetryable: refusal.isPassing || refusal.isForPeers
        )
    }

    // MARK: Publishing

    /// Stores messages in the stream of their subject.
    ///
    /// A leader notes the id of a message before a majority has it, and answers a repetition with "duplicate" and the number 0: that
    /// says nothing about whether the message was stored, or ever will be. So it is sent again, and after a while under another
    /// name, since a leader that has lost its followers since then keeps the id without the message. If both are stored in the
    /// end, the event arrives twice, with one id.
    ///
    /// - Returns: For each, whether it is new.
    /// - Throws: `storage` if one of them was not stored in time, or nobody knows.
    func publish(_ messages: [Message]) async throws(ConnectorError) -> [Bool] {
        var messages = messages
        var isNew = Array(repeating: true, count: messages.count)
        var open = Array(messages.indices)
        let deadline = clock.now().saturatingAdding(Self.limit)
        for attempt in 1... {
            var unsure: [Int] = []
            for (index, answer) in zip(open, try await ask(open.map { messages[$0] })) {
                if let refusal = Self.refusal(answer) { throw Self.error(refusal) }
                guard let number = answer.data.number(after: "\"seq\":") else {
                    throw ConnectorError(.storage, "the NATS server confirms an event with garbage")
                }
                if number == 0 { unsure.append(index) }
                isNew[index] = !answer.data.contains(text: "\"duplicate\":")
            }
            open = unsure
            if open.isEmpty { break }
            for index in open where attempt.isMultiple(of: Self.renaming) {
                messages[index].headers.id? += ".\(attempt)"
            }
            try await goOn(isReachable: false, until: deadline)
        }
        return isNew
    }

    // MARK: Reading

    /// The first message of a stream at a number or after it.
    ///
    /// The leader of the stream answers: another replica may not know yet what was added or deleted a moment ago.
    ///
    /// - Returns: Nil if there is none.
    func message(
        _ stream: String,
        from sequence: Int64,
        filter: String
    ) async throws(ConnectorError) -> NATSMessage? {
        let wish: JSONValue = ["seq": .integer(max(1, sequence)), "next_by_subj": .string(filter)]
        switch try await call("STREAM.MSG.GET.\(stream)", wish) {
        case .failure(let refusal) where refusal.isForAbsence: return nil
        case .failure(let refusal): throw Self.error(refusal)
        case .success(let answer):
            guard let message = answer["message"].flatMap({ NATSMessage(stored: $0) }) else {
                throw ConnectorError(.storage, "the NATS server answers a question for an event with garbage")
            }
            return message
        }
    }

    // MARK: Deleting

    /// Deletes a message of a stream.
    ///
    /// - Returns: Whether it was there; another host may have been faster.
    func delete(_ number: Int64, of stream: String) async throws(ConnectorError) -> Bool {
        switch try await call(Self.deletion(stream), Self.wish(toDelete: number)) {
        case .success: return true
        case .failure(let refusal) where refusal.isForAbsence: return false
        case .failure(let refusal): throw Self.error(refusal)
        }
    }

    /// Deletes messages that nobody needs, and waits for the last one only: an answer to each costs as much as the deletion.
    ///
    /// Those that the servers do not get, because they fail or the connection does, stay.
    func discard(_ numbers: ClosedRange<Int64>, of stream: String) async throws(ConnectorError) {
        let subject = Self.api + Self.deletion(stream)
        for number in numbers.dropLast() {
            try connection.send(Self.wish(toDelete: number).utf8(), to: subject)
        }
        _ = try await delete(numbers.upperBound, of: stream)
    }

    /// The operation that deletes a message.
    private static func deletion(_ stream: String) -> String { "STREAM.MSG.DELETE.\(stream)" }

    private static func wish(toDelete number: Int64) -> JSONValue { ["seq": .integer(number), "no_erase": true] }

    // MARK: Leasing

    /// The next messages of a consumer, leased to the caller.
    ///
    /// - Parameters:
    ///   - count: The most.
    ///   - bytes: The most bytes, unless the first message alone has more; nil for no limit.
    ///   - wait: How long to wait for the first one, in nanoseconds; zero for not at all.
    func pull(
        _ count: Int,
        bytes: Int?,
        from consumer: String,
        of stream: String,
        wait: UInt64 = 0
    ) async throws(ConnectorError) -> [NATSMessage] {
        let isTooLarge = Mutex(false)
        let end = OneShot<Void>()
        let taken = Mutex<[NATSMessage]>([])
        let number = connection.begin(consumer) { message in
            if let status = message.status {
                // Nothing more, or nobody there, or a message beyond the limit of bytes (409).
                isTooLarge.withLock { $0 = status == 409 }
                end.send()
                return true
            }
            let isLast = taken.withLock { taken in
                taken.append(message)
                return taken.count >= count
            }
            if isLast { end.send() }
            return isLast
        }
        defer { connection.end(number) }
        var body: JSONObject = ["batch": .integer(Int64(count))]
        if let bytes { body["max_bytes"] = .integer(Int64(bytes)) }
        if wait > 0 { body["expires"] = .integer(Int64(clamping: wait)) } else { body["no_wait"] = true }
        try connection.send(
            JSONValue.object(body).utf8(),
            to: "\(Self.api)CONSUMER.MSG.NEXT.\(stream).\(consumer)",
            reply: number
        )
        _ = await end.wait(by: clock.now().saturatingAdding(wait.saturatingAdding(Self.patience)), on: clock)
        let messages = taken.withLock(\.self)
        guard messages.isEmpty, bytes != nil, isTooLarge.withLock(\.self) else { return messages }
        return try await pull(1, bytes: nil, from: consumer, of: stream)
    }
}

extension [UInt8] {
    /// Whether the bytes contain a text.
    func contains(text: StaticString) -> Bool { end(of: text) != nil }

    /// The decimal number that follows a text.
    fileprivate func number(after text: StaticString) -> UInt64? {
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
