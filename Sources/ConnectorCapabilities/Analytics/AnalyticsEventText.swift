// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An event as the JSON text that arrived, checked like an ``AnalyticsEvent``, for vendors that take the text
/// unchanged.
///
/// The text names its type, its `messageId` and its time, and has no member outside the specification.
public struct AnalyticsEventText: Sendable {
    /// The text of the batch, which all of its events share.
    private let batch: [UInt8]
    private let range: Range<Int>
    /// The range of the event's context in the batch; nil if it has none.
    private let context: Range<Int>?

    /// Finds the events of a batch.
    ///
    /// - Returns: Nil unless the text is an array of complete events in plain form. Any other text may still be valid:
    ///   parse it, and read each element with ``AnalyticsEvent/init(json:as:path:)``.
    public static func events(of batch: [UInt8]) -> [AnalyticsEventText]? {
        guard let slices = JSONObjectSlices(array: batch.span) else { return nil }
        var events: [AnalyticsEventText] = []
        events.reserveCapacity(slices.objects.count)
        for object in slices.objects {
            var members = Members()
            for place in object.members {
                guard members.take(slices.members[place], of: batch.span) else { return nil }
            }
            guard members.areComplete else { return nil }
            events.append(AnalyticsEventText(batch: batch, range: object.range, context: members.context))
        }
        return events
    }

    /// The event's text, with a member added to its context unless the context has one of that name.
    ///
    /// - Parameter value: The JSON text of the value.
    public func utf8(filling name: StaticString, with value: StaticString) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(size(filling: name, with: value))
        append(to: &text, filling: name, with: value)
        return text
    }

    /// Appends what ``utf8(filling:with:)`` returns.
    public func append(to text: inout [UInt8], filling name: StaticString, with value: StaticString) {
        guard let context else {
            text += batch[range.lowerBound..<(range.upperBound - 1)]
            text.append(",\"context\":{")
            text.append(name, value)
            text.append("}}")
            return
        }
        let (isGiven, isFirst) = findMember(name, at: context)
        guard !isGiven else {
            text += batch[range]
            return
        }
        let place = context.lowerBound + 1
        text += batch[range.lowerBound..<place]
        text.append(name, value)
        if !isFirst { text.append(",") }
        text += batch[place..<range.upperBound]
    }

    /// The number of bytes that ``utf8(filling:with:)`` returns.
    public func size(filling name: StaticString, with value: StaticString) -> Int {
        let member = name.utf8CodeUnitCount + value.utf8CodeUnitCount + "\"\":".utf8.count
        guard let context else { return range.count + ",\"context\":{}".utf8.count + member }
        let (isGiven, isFirst) = findMember(name, at: context)
        return isGiven ? range.count : range.count + member + (isFirst ? 0 : 1)
    }

    /// Whether the context has a member of that name, and whether it has none at all.
    private func findMember(_ name: StaticString, at context: Range<Int>) -> (isGiven: Bool, isFirst: Bool) {
        let members = JSONObjectSlices.members(of: batch.span, at: context)
        return (members.contains { batch.span.extracting($0.name).isEqual(to: name) }, members.isEmpty)
    }

    /// The members of an event whose values are strings.
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

    /// The members of an event that are checked.
    private struct Members {
        private var type: AnalyticsEvent.Kind?
        /// The string members that are present, and those that are not empty.
        private var (given, filled): (Texts, Texts) = ([], [])
        private(set) var context: Range<Int>?

        /// The longest id that every vendor takes unchanged, in bytes: Segment drops an event whose id is longer.
        private static let messageIdLimit = 99

        /// The check for a member.
        private enum Check {
            case object, context, text(Texts), messageId, timestamp, type
        }

        /// The members that an event may have.
        private static let checks: [(name: StaticString, check: Check)] = [
            ("type", .type), ("messageId", .messageId), ("timestamp", .timestamp), ("userId", .text(.userId)),
            ("anonymousId", .text(.anonymousId)), ("event", .text(.event)), ("properties", .object),
            ("traits", .object), ("context", .context), ("name", .text([])), ("category", .text([])),
            ("groupId", .text(.groupId)), ("previousId", .text(.previousId)),
        ]

        /// Records a member; returns false for an unknown member or a value of the wrong type.
        mutating func take(_ member: JSONObjectSlices.Member, of batch: Span<UInt8>) -> Bool {
            let (name, value) = (batch.extracting(member.name), batch.extracting(member.value))
            for (known, check) in Self.checks where name.isEqual(to: known) {
                return take(check, value, at: member.value)
            }
            return false
        }

        private mutating func take(_ check: Check, _ value: Span<UInt8>, at place: Range<Int>) -> Bool {
            switch check {
            case .object: return value[0] == UInt8(ascii: "{")
            case .context:
                context = place
                return value[0] == UInt8(ascii: "{")
            case .text(let text): return note(text, value)
            case .messageId:
                return note(.messageId, value) && (1...Self.messageIdLimit).contains(value.count - 2)
                    && !value.indices.contains { value[$0] == UInt8(ascii: "\\") }
            case .timestamp:
                // Accept only milliseconds, which every vendor takes; the caller parses and rewrites other times.
                return note(.timestamp, value) && Timestamp.isWritten(value.extracting(1..<(value.count - 1)))
            case .type:
                guard value[0] == UInt8(ascii: "\"") else { return false }
                let text = unsafe value.withUnsafeBufferPointer {
                    unsafe String(decoding: $0.dropFirst().dropLast(), as: UTF8.self)
                }
                type = AnalyticsEvent.Kind(rawValue: text)
                return type != nil
            }
        }

        /// Records a string; returns false for any other value.
        private mutating func note(_ text: Texts, _ value: Span<UInt8>) -> Bool {
            given.formUnion(text)
            if value.count > 2 { filled.formUnion(text) }
            return value[0] == UInt8(ascii: "\"")
        }

        /// Whether the event has the members that its type needs.
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

extension [UInt8] {
    /// Appends text.
    fileprivate mutating func append(_ text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a member of an object.
    fileprivate mutating func append(_ name: StaticString, _ value: StaticString) {
        append("\"")
        append(name)
        append("\":")
        append(value)
    }
}
