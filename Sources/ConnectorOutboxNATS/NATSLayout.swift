// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The layout of the outbox in JetStream: the names of streams, subjects and consumers.
///
/// Each connector has a slot: a token in the subject of every event, which is `1` if the event is for the connector and `0`
/// otherwise. So an event for several connectors is stored as one message, and each consumer needs only one filter, which is all that
/// servers before 2.10 support:
///
/// ```
/// OUTBOX.e.1.0.1.x        an event for the connectors in the slots 0 and 2
/// OUTBOX.e.*.*.1.>        the filter of the consumer in slot 2
/// OUTBOX.dead.PATH        the dead letters of a connector
/// ```
///
/// The stream keeps its messages until ``NATSSchema/trim(keeping:)`` deletes them, once every connector has settled them. JetStream
/// could do that itself (interest retention), but servers 2.9 then lose events of a slower consumer while a node recovers. A slot is
/// never reused while its consumer exists or events are stored for it, so a new consumer, which starts at the beginning, finds no older
/// event for its slot.
struct NATSLayout: Sendable {
    /// The stream of the waiting events.
    let stream: String

    /// The stream of the dead letters.
    var deadStream: String { "\(stream)-dead" }

    /// The subjects of the waiting events.
    var subjects: String { "\(stream).e.>" }

    /// The subjects of the dead letters.
    var deadSubjects: String { "\(stream).dead.*" }

    /// The subject of a connector's dead letters.
    func deadSubject(_ path: String) -> String { "\(stream).dead.\(Self.token(path))" }

    /// The connector of a subject of dead letters; nil for any other subject.
    func path(ofDead subject: String) -> String? {
        subject.hasPrefix("\(stream).dead.") ? Self.path(String(subject.dropFirst(stream.utf8.count + 6))) : nil
    }

    /// The subject of events for some slots.
    func subject(_ slots: some Collection<Int>) -> String {
        var tokens = Array(repeating: "0", count: (slots.max() ?? -1) + 1)
        for slot in slots { tokens[slot] = "1" }
        return "\(stream).e.\(tokens.joined(separator: ".")).x"
    }

    /// The slots in a subject.
    func slots(_ subject: String) -> [Int] {
        let tokens = subject.dropFirst(stream.utf8.count + 3).split(separator: ".").dropLast()
        return tokens.enumerated().filter { $0.element == "1" }.map(\.offset)
    }

    /// The filter of the consumer in a slot.
    func filter(_ slot: Int) -> String {
        "\(stream).e.\(String(repeating: "*.", count: slot))1.>"
    }

    /// The slot of a consumer's filter; nil for any other filter.
    func slot(_ filter: String) -> Int? {
        let slot = filter.dropFirst(stream.utf8.count + 3).split(separator: ".").count - 2
        return (0..<Self.slotLimit).contains(slot) && self.filter(slot) == filter ? slot : nil
    }

    /// The maximum number of slots of a stream. A subject contains a token for every slot up to the last one used.
    private static let slotLimit = 10_000

    // MARK: Names

    /// Encodes a text as a token of a subject: bytes other than ASCII letters, digits, `-` and `_` become `=` and two hexadecimal
    /// digits.
    static func token(_ path: String) -> String {
        // Fast path: nearly all event ids are plain.
        guard !path.utf8.allSatisfy(isPlain) else { return path }
        return path.utf8.map { isPlain($0) ? String(UnicodeScalar($0)) : "=" + $0.hexadecimal(uppercase: true) }
            .joined()
    }

    /// Whether a byte needs no escape in a name.
    private static func isPlain(_ byte: UInt8) -> Bool { byte.isWordCharacter || byte == UInt8(ascii: "-") }

    /// Decodes a token; nil if it is not the encoding of a text.
    static func path(_ token: String) -> String? {
        guard !token.utf8.allSatisfy(isPlain) else { return token }
        var bytes: [UInt8] = []
        var rest = token.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        let path = String(decoding: bytes, as: UTF8.self)
        return self.token(path) == token ? path : nil
    }

    // MARK: Settings

    /// The settings of the stream of waiting events.
    func stream(replicas: Int) -> JSONObject { settings(of: stream, subjects, replicas) }

    /// The settings of the stream of dead letters.
    func deadStream(replicas: Int) -> JSONObject { settings(of: deadStream, deadSubjects, replicas) }

    /// The settings of a stream. A full one refuses events instead of discarding old ones.
    private func settings(of stream: String, _ subjects: String, _ replicas: Int) -> JSONObject {
        [
            "storage": "file", "discard": "new", "num_replicas": .integer(Int64(replicas)),
            "max_msgs": -1, "max_bytes": -1, "max_age": 0, "max_msg_size": -1, "max_consumers": -1,
            "name": .string(stream), "subjects": [.string(subjects)], "retention": "limits",
            "duplicate_window": .integer(120_000_000_000),
        ]
    }

    /// The settings of a connector's consumer.
    ///
    /// - Parameter lease: How long a host may hold an event without renewing its lease, in nanoseconds.
    func consumer(_ path: String, slot: Int, lease: UInt64) -> JSONObject {
        [
            "durable_name": .string(Self.token(path)), "description": .string(path),
            "filter_subject": .string(filter(slot)), "deliver_policy": "all", "ack_policy": "explicit",
            "ack_wait": .integer(Int64(clamping: lease)), "max_deliver": -1, "max_ack_pending": 65_536,
            "max_waiting": 512, "replay_policy": "instant",
        ]
    }
}
