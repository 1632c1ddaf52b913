// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How events lie in JetStream: the names of streams, subjects and consumers.
///
/// Each connector has a slot: a place in the subject of every event, where `1` says that the event is for it and `0` that it is
/// not. So one message reaches every connector of a fan-out and is stored once, and one filter for each consumer is
/// enough, which is all that a server before 2.10 offers:
///
/// ```
/// OUTBOX.e.1.0.1.x        an event for the connectors in the slots 0 and 2
/// OUTBOX.e.*.*.1.>        the filter of the consumer in slot 2
/// OUTBOX.dead.PATH        the dead letters of a connector
/// ```
///
/// The stream keeps its messages until they are deleted, which ``NATSSchema/trim(keeping:)`` does once every connector has settled
/// them. JetStream could do that itself (interest retention), but servers 2.9 lose events of a slower consumer that way while
/// a node comes back. A slot is never given to another connector while its consumer exists, so a new consumer, which starts
/// at the beginning, finds no event for its slot that is older than itself.
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

    /// The connector whose dead letters have a subject.
    func path(ofDead subject: String) -> String? {
        subject.hasPrefix("\(stream).dead.") ? Self.path(String(subject.dropFirst(stream.utf8.count + 6))) : nil
    }

    /// The subject of events for some slots.
    func subject(_ slots: some Collection<Int>) -> String {
        var places = Array(repeating: "0", count: (slots.max() ?? -1) + 1)
        for slot in slots { places[slot] = "1" }
        return "\(stream).e.\(places.joined(separator: ".")).x"
    }

    /// The slots that a subject means.
    func slots(_ subject: String) -> [Int] {
        let places = subject.dropFirst(stream.utf8.count + 3).split(separator: ".").dropLast()
        return places.enumerated().filter { $0.element == "1" }.map(\.offset)
    }

    /// The filter of the consumer in a slot.
    func filter(_ slot: Int) -> String {
        "\(stream).e.\(String(repeating: "*.", count: slot))1.>"
    }

    /// The slot whose consumer has a filter; nil for any other filter.
    func slot(_ filter: String) -> Int? {
        let slot = filter.dropFirst(stream.utf8.count + 3).split(separator: ".").count - 2
        return (0..<Self.slotLimit).contains(slot) && self.filter(slot) == filter ? slot : nil
    }

    /// How many slots a stream has: a subject names each one before the last that is meant.
    private static let slotLimit = 10_000

    // MARK: Names

    /// A connector's path as the name of a consumer: other characters than letters, digits, `-` and `_` are `=` and two digits.
    static func token(_ path: String) -> String {
        // The ids of nearly all events stay as they are.
        guard !path.utf8.allSatisfy(isPlain) else { return path }
        return path.utf8.map { isPlain($0) ? String(UnicodeScalar($0)) : "=" + escape($0) }.joined()
    }

    /// Whether a byte needs no escape in a name.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            return true
        default: return false
        }
    }

    /// The path that a consumer's name means; nil for other names.
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

    /// Two hexadecimal digits.
    private static func escape(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0" + digits : digits
    }

    // MARK: Settings

    /// The settings of the stream of waiting events.
    func stream(replicas: Int) -> JSONObject {
        var object = shared(replicas)
        object["name"] = .string(stream)
        object["subjects"] = [.string(subjects)]
        object["retention"] = "limits"
        object["duplicate_window"] = .integer(120_000_000_000)
        return object
    }

    /// The settings of the stream of dead letters.
    func deadStream(replicas: Int) -> JSONObject {
        var object = shared(replicas)
        object["name"] = .string(deadStream)
        object["subjects"] = [.string(deadSubjects)]
        object["retention"] = "limits"
        object["duplicate_window"] = .integer(120_000_000_000)
        return object
    }

    /// A full stream refuses events, instead of losing old ones.
    private func shared(_ replicas: Int) -> JSONObject {
        [
            "storage": "file", "discard": "new", "num_replicas": .integer(Int64(replicas)),
            "max_msgs": -1, "max_bytes": -1, "max_age": 0, "max_msg_size": -1, "max_consumers": -1,
        ]
    }

    /// The settings of a connector's consumer.
    ///
    /// - Parameter lease: How long a host may keep an event without a word, in nanoseconds.
    func consumer(_ path: String, slot: Int, lease: UInt64) -> JSONObject {
        [
            "durable_name": .string(Self.token(path)), "description": .string(path),
            "filter_subject": .string(filter(slot)), "deliver_policy": "all", "ack_policy": "explicit",
            "ack_wait": .integer(Int64(clamping: lease)), "max_deliver": -1, "max_ack_pending": 65_536,
            "max_waiting": 512, "replay_policy": "instant",
        ]
    }
}
