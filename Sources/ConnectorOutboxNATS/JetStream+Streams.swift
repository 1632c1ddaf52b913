// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// Operations on streams and consumers: publishing, reading, deleting and leasing messages.
extension JetStream {
    /// The number of attempts with one message id, while it is unknown whether the message was stored.
    private static let attemptsPerID = 20

    // MARK: Publishing

    /// Stores messages in the stream of their subject.
    ///
    /// A leader records the id of a message before a majority has stored it, and responds to a repetition with "duplicate" and the
    /// number 0, which does not tell whether the message was or will be stored. So it is sent again, and after some attempts with
    /// another id, since a leader that has lost its followers in the meantime keeps the id without the message. If both are stored
    /// in the end, the event is delivered twice, with the same event id.
    ///
    /// - Parameter makeRoom: Called once if there is no room for a message, which is then sent once more.
    /// - Returns: For each message, whether it is new.
    /// - Throws: `storage` if a message was not stored in time, or may not have been.
    func publish(
        _ messages: [Message],
        makeRoom: () async -> Void
    ) async throws(ConnectorError) -> [Bool] {
        var messages = messages
        var hasMadeRoom = false
        var isNew = Array(repeating: true, count: messages.count)
        var unconfirmed = Array(messages.indices)
        let deadline = clock.now().saturatingAdding(waits.limit)
        for attempt in 1... {
            var unknown: [Int] = []
            var isFull = false
            for (index, answer) in zip(unconfirmed, try await send(unconfirmed.map { messages[$0] })) {
                if let refusal = Self.refusal(answer) {
                    guard refusal.isInProcess || refusal.lacksSpace && !hasMadeRoom else { throw error(refusal) }
                    isFull = isFull || refusal.lacksSpace
                    unknown.append(index)
                    continue
                }
                guard let number = answer.data.number(after: "\"seq\":") else {
                    throw ConnectorError(.storage, "the NATS server sent an invalid acknowledgement of an event")
                }
                if number == 0 { unknown.append(index) }
                isNew[index] = !answer.data.contains(text: "\"duplicate\":")
            }
            unconfirmed = unknown
            if unconfirmed.isEmpty { break }
            if isFull {
                await makeRoom()
                hasMadeRoom = true
                continue
            }
            for index in unconfirmed where attempt.isMultiple(of: Self.attemptsPerID) {
                messages[index].headers.id? += ".\(attempt)"
            }
            try await backOff(isReachable: false, until: deadline)
        }
        return isNew
    }

    // MARK: Reading

    /// The first message of a stream at or after a sequence number.
    ///
    /// Read from the stream's leader, since another replica may not know of the latest changes yet.
    ///
    /// - Returns: Nil if there is none.
    func message(
        _ stream: String,
        from sequence: Int64,
        filter: String
    ) async throws(ConnectorError) -> NATSMessage? {
        let body: JSONValue = ["seq": .integer(max(1, sequence)), "next_by_subj": .string(filter)]
        switch try await call("STREAM.MSG.GET.\(stream)", body) {
        case .failure(let refusal) where refusal.isNotFound: return nil
        case .failure(let refusal): throw error(refusal, of: stream)
        case .success(let answer):
            guard let message = answer["message"].flatMap({ NATSMessage(stored: $0) }) else {
                throw ConnectorError(.storage, "the NATS server sent an invalid message for an event")
            }
            return message
        }
    }

    /// The settings and the state of a consumer.
    ///
    /// - Throws: `missing` if it or its stream does not exist.
    func info(ofConsumer consumer: String, of stream: String) async throws(ConnectorError) -> JSONValue {
        switch try await call("CONSUMER.INFO.\(stream).\(consumer)") {
        case .success(let answer): return answer
        case .failure(let refusal): throw error(refusal, of: stream, consumer)
        }
    }

    // MARK: Deleting

    /// Deletes a message of a stream.
    ///
    /// - Returns: False if it did not exist; another host may have deleted it first.
    func delete(_ number: Int64, of stream: String) async throws(ConnectorError) -> Bool {
        switch try await call(Self.deletion(stream), Self.deletionBody(number)) {
        case .success: return true
        case .failure(let refusal) where refusal.isNotFound: return false
        case .failure(let refusal): throw error(refusal, of: stream)
        }
    }

    /// Deletes messages that are no longer needed. Awaits only the last response, since each costs as much as the deletion.
    ///
    /// Messages stay in the stream if a server or the connection fails.
    func discard(_ numbers: some BidirectionalCollection<Int64>, of stream: String) async throws(ConnectorError) {
        guard let last = numbers.last else { return }
        let subject = Self.api + Self.deletion(stream)
        for number in numbers.dropLast() {
            try connection.send(Self.deletionBody(number).utf8(), to: subject)
        }
        _ = try await delete(last, of: stream)
    }

    /// The API operation that deletes a message.
    private static func deletion(_ stream: String) -> String { "STREAM.MSG.DELETE.\(stream)" }

    private static func deletionBody(_ number: Int64) -> JSONValue { ["seq": .integer(number), "no_erase": true] }

    // MARK: Leasing

    /// Leases the next messages of a consumer; repeats the request while nothing answers it.
    ///
    /// - Parameters:
    ///   - count: The maximum number of messages.
    ///   - bytes: The maximum size in bytes, unless the first message alone exceeds it; nil for no limit.
    ///   - wait: The maximum wait for all of them, in nanoseconds; zero to return immediately.
    /// - Throws: `storage` if there is no answer in time.
    func pull(
        _ count: Int,
        bytes: Int?,
        from consumer: String,
        of stream: String,
        wait: UInt64 = 0
    ) async throws(ConnectorError) -> [NATSMessage] {
        var (count, bytes) = (count, bytes)
        var body = JSONObject()
        if wait > 0 { body["expires"] = .integer(Int64(clamping: wait)) } else { body["no_wait"] = true }
        let deadline = clock.now().saturatingAdding(wait.saturatingAdding(waits.limit))
        while true {
            body["batch"] = .integer(Int64(count))
            body["max_bytes"] = bytes.map { JSONValue.integer(Int64($0)) }
            let (messages, end) = try await pull(
                count,
                .object(body),
                from: consumer,
                of: stream,
                wait: wait,
                until: deadline
            )
            guard messages.isEmpty else { return messages }
            let words = Array((end.words ?? "").utf8)
            switch end.status {
            case NATSMessage.denied: throw connection.denial(end.words ?? "")
            case 409:
                // The consumer, the account or the server may allow less in a request.
                if let most = words.number(after: "MaxRequestBatch of"), most > 0, most < count {
                    count = Int(most)
                } else if let limit = bytes, let most = words.number(after: "MaxRequestMaxBytes of"), most > 0,
                    most < limit
                {
                    bytes = Int(most)
                } else {
                    // The next message alone is larger than the limit.
                    guard bytes != nil else { return [] }
                    return try await pull(1, bytes: nil, from: consumer, of: stream)
                }
            case 503:
                let absence = "no server listens for the consumer \(consumer)"
                let notice = Refusal(code: 503, number: 0, description: absence)
                try await backOff(isReachable: false, notice, until: deadline)
            default: return []
            }
        }
    }

    /// Requests the next messages of a consumer; repeats the request after a timeout, with the same reply subject.
    ///
    /// - Returns: The messages, and the status that ended the request, with its words: no more messages (404, 408), no server (503),
    ///   denied, or a reason not to hand out any now, such as a message that exceeds the limit of bytes (409). Zero after as many messages
    ///   as were asked for, or some of them in time.
    private func pull(
        _ count: Int,
        _ body: JSONValue,
        from consumer: String,
        of stream: String,
        wait: UInt64,
        until deadline: UInt64
    ) async throws(ConnectorError) -> ([NATSMessage], end: PullEnd) {
        let end = OneShot<PullEnd>()
        let subject = "\(Self.api)CONSUMER.MSG.NEXT.\(stream).\(consumer)"
        let taken = Mutex<[NATSMessage]>([])
        let number = connection.begin(subject, consumer) { message in
            if let status = message.status {
                end.send(PullEnd(status: status, words: message.words))
                return true
            }
            let isLast = taken.withLock { taken in
                taken.append(message)
                return taken.count >= count
            }
            if isLast { end.send(PullEnd(status: 0)) }
            return isLast
        }
        defer { connection.end(number) }
        while true {
            try connection.send(body.utf8(), to: subject, reply: number)
            let last = await end.wait(by: clock.now().saturatingAdding(wait.saturatingAdding(waits.answer)), on: clock)
            let messages = taken.withLock(\.self)
            if let last { return (messages, last) }
            guard messages.isEmpty else { return (messages, PullEnd(status: 0)) }
            // Nothing answers for a deleted consumer.
            _ = try await info(ofConsumer: consumer, of: stream)
            // The response to the request may have come meanwhile.
            if let last = end.value { return (taken.withLock(\.self), last) }
            try await backOff(isReachable: true, until: deadline)
        }
    }

    /// What ended a request for messages.
    private struct PullEnd: Sendable {
        var status: Int
        /// What the server says about it; nil for nothing.
        var words: String?
    }
}
