// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// What the outbox does to streams and consumers: publish, read, delete, lease.
extension JetStream {
    /// How often a message is sent under one name while it is unknown whether it was stored.
    private static let renaming = 20

    // MARK: Publishing

    /// Stores messages in the stream of their subject.
    ///
    /// A leader notes the id of a message before a majority has it, and answers a repetition with "duplicate" and the number 0: that
    /// says nothing about whether the message was stored, or ever will be. So it is sent again, and after a while under another
    /// name, since a leader that has lost its followers since then keeps the id without the message. If both are stored in the
    /// end, the event arrives twice, with one id.
    ///
    /// - Returns: For each, whether it is new.
    /// - Throws: `storage` if one of them was not stored in time, or may not have been.
    func publish(_ messages: [Message]) async throws(ConnectorError) -> [Bool] {
        var messages = messages
        var isNew = Array(repeating: true, count: messages.count)
        var open = Array(messages.indices)
        let deadline = clock.now().saturatingAdding(waits.limit)
        for attempt in 1... {
            var unsure: [Int] = []
            for (index, answer) in zip(open, try await send(open.map { messages[$0] })) {
                if let refusal = Self.refusal(answer) { throw error(refusal) }
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
            try await backOff(isReachable: false, until: deadline)
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
        let body: JSONValue = ["seq": .integer(max(1, sequence)), "next_by_subj": .string(filter)]
        switch try await call("STREAM.MSG.GET.\(stream)", body) {
        case .failure(let refusal) where refusal.isForAbsence: return nil
        case .failure(let refusal): throw error(refusal)
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
        switch try await call(Self.deletion(stream), Self.deletionBody(number)) {
        case .success: return true
        case .failure(let refusal) where refusal.isForAbsence: return false
        case .failure(let refusal): throw error(refusal)
        }
    }

    /// Deletes messages that are no longer needed, and waits for the last one only: an answer to each costs as much as the deletion.
    ///
    /// Those that the servers do not get, because they fail or the connection does, stay.
    func discard(_ numbers: ClosedRange<Int64>, of stream: String) async throws(ConnectorError) {
        let subject = Self.api + Self.deletion(stream)
        for number in numbers.dropLast() {
            try connection.send(Self.deletionBody(number).utf8(), to: subject)
        }
        _ = try await delete(numbers.upperBound, of: stream)
    }

    /// The operation that deletes a message.
    private static func deletion(_ stream: String) -> String { "STREAM.MSG.DELETE.\(stream)" }

    private static func deletionBody(_ number: Int64) -> JSONValue { ["seq": .integer(number), "no_erase": true] }

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
                // Nothing more, or no server, or a message beyond the limit of bytes (409).
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
        _ = await end.wait(by: clock.now().saturatingAdding(wait.saturatingAdding(waits.answer)), on: clock)
        let messages = taken.withLock(\.self)
        guard messages.isEmpty, bytes != nil, isTooLarge.withLock(\.self) else { return messages }
        return try await pull(1, bytes: nil, from: consumer, of: stream)
    }
}
