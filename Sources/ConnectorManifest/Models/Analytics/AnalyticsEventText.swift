// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An event as the JSON text it arrived in, checked like an ``AnalyticsEvent``, for vendors that take the text itself.
///
/// The text names its type, its `messageId` and its time, and has no member outside the specification.
public struct AnalyticsEventText: Sendable {
    /// The text of the batch, which all of its events share.
    private let batch: [UInt8]
    private let range: Range<Int>
    /// Where the event's context stands in the batch; nil if it has none.
    private let context: Range<Int>?

    /// Finds the events of a batch.
    ///
    /// - Returns: Nil unless the text is an array of complete events in the plain form that programs write. Another text
    ///   may be valid, too: parse it, and read each element by ``AnalyticsEvent/init(json:as:path:)``.
    public static func events(of batch: [UInt8]) -> [AnalyticsEventText]? {
        guard let slices = JSONObjectSlices(array: batch.span) else { return nil }
        var events: [AnalyticsEventText] = []
        events.reserveCapacity(slices.objects.count)
        for object in slices.objects {
            var members = Members()
            for place in object.members {
                guard members.take(slices.members[place], of: batch) else { return nil }
            }
            guard members.areComplete else { return nil }
            events.append(AnalyticsEventText(batch: batch, range: object.range, context: members.context))
        }
        return events
    }

    /// The event's text, with a member of its context filled in if the event has none of that name.
    ///
    /// - Parameter value: JSON.
    public func utf8(filling name: StaticString, with value: StaticString) -> [UInt8] {
        let member = "\"\(name)\":\(value)"
        guard let context else {
            return batch[range.lowerBound..<(range.upperBound - 1)] + Array(",\"context\":{\(member)}}".utf8)
        }
        let members = JSONObjectSlices.members(of: batch.span, at: context)
        let isGiven = members.contains { batch[$0.name].elementsEqual("\(name)".utf8) }
        guard !isGiven else { return Array(batch[range]) }
        let place = context.lowerBound + 1
        return batch[range.lowerBound..<place] + Array((members.isEmpty ? member : member + ",").utf8)
            + batch[place..<range.upperBound]
    }

    /// The members of an event that are texts.
    private struct Texts: OptionSet {
        let rawValue: UInt16
        static let messageId = Texts(rawValue: 1)
        static let timestamp = Texts(rawValue: 2)
        static let userId = Texts(rawValue: 4)
        static let anonymousId = Texts(rawValue: 8)
        static let event = Texts(rawValue: 16)
        static let groupId = Texts(rawValue: 32)
        static let previousId = Texts(rawValue: 64)
    }

    /// What an event says of itself, as far as it is checked.
    private struct Members {
        private var type: AnalyticsEvent.Kind?
        /// The texts that are there, and those that hold something.
        private var (given, filled): (Texts, Texts) = ([], [])
        private(set) var context: Range<Int>?

        /// Takes note of a member; false for one that an event has not, or that is of another type than it should be.
        mutating func take(_ member: JSONObjectSlices.Member, of batch: [UInt8]) -> Bool {
            let isObject = batch[member.value.lowerBound] == UInt8(ascii: "{")
            switch String(decoding: batch[member.name], as: UTF8.self) {
            case "properties", "traits": return isObject
            case "context":
                context = member.value
                return isObject
            case "name", "category": return note([], member.value, of: batch)
            case "userId": return note(.userId, member.value, of: batch)
            case "anonymousId": return note(.anonymousId, member.value, of: batch)
            case "event": return note(.event, member.value, of: batch)
            case "groupId": return note(.groupId, member.value, of: batch)
            case "previousId": return note(.previousId, member.value, of: batch)
            case "messageId":
                let length = member.value.count - 2
                return note(.messageId, member.value, of: batch) && (1...AnalyticsEvent.messageIdLimit).contains(length)
                    && !batch[member.value].contains(UInt8(ascii: "\\"))
            case "timestamp":
                // In the form that this package writes: others are rewritten.
                guard note(.timestamp, member.value, of: batch), member.value.count == 26 else { return false }
                let text = String(decoding: batch[member.value].dropFirst().dropLast(), as: UTF8.self)
                return Timestamp(parsing: text)?.description == text
            case "type":
                type = AnalyticsEvent.Kind.allCases.first {
                    batch[member.value].elementsEqual("\"\($0.rawValue)\"".utf8)
                }
                return type != nil
            default: return false
            }
        }

        /// Takes note of a text; false for anything else.
        private mutating func note(_ text: Texts, _ value: Range<Int>, of batch: [UInt8]) -> Bool {
            given.formUnion(text)
            if value.count > 2 { filled.formUnion(text) }
            return batch[value.lowerBound] == UInt8(ascii: "\"")
        }

        /// Whether the event has what its type needs.
        var areComplete: Bool {
            guard let type, filled.isSuperset(of: [.messageId, .timestamp]),
                filled.contains(given.contains(.userId) ? .userId : .anonymousId)
            else { return false }
            switch type {
            case .track: return filled.contains(.event)
            case .group: return filled.contains(.groupId)
            case .alias: return filled.isSuperset(of: [.previousId, .userId])
            case .identify, .page, .screen: return true
            }
        }
    }
}
