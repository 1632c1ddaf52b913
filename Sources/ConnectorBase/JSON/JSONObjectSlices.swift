// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The ranges of the objects in a JSON array's text, and of their members, found without creating values.
///
/// Serves texts that are mostly passed on. It accepts only texts that ``JSONParser`` accepts, and checks UTF-8 and
/// duplicate names. It gives up on rare forms, such as an escaped name or an exponent; the caller then falls back to
/// the parser.
package struct JSONObjectSlices: Sendable {
    /// One member of an object.
    package struct Member: Sendable {
        /// The name, without quotes; it contains no escapes.
        package var name: Range<Int>
        /// The value's bytes.
        package var value: Range<Int>
    }

    /// One object.
    package struct Object: Sendable {
        /// The object, braces included.
        package var range: Range<Int>
        /// The object's members, as indices of ``JSONObjectSlices/members``.
        package var members: Range<Int>
    }

    /// The objects, in the order of the text.
    package private(set) var objects: [Object] = []
    /// The members of all objects, in the order of the text.
    package private(set) var members: [Member] = []

    /// Finds the objects of an array; nil if the text is not an array of objects in plain form.
    package init?(array text: Span<UInt8>) {
        guard text.count <= JSONParser.sizeLimit, (try? UTF8Span(validating: text)) != nil else { return nil }
        var scan = JSONScan()
        scan.skipSpace(text)
        guard scan.consume(UInt8(ascii: "["), text) else { return nil }
        scan.skipSpace(text)
        if !scan.consume(UInt8(ascii: "]"), text) {
            repeat {
                scan.skipSpace(text)
                let (start, first) = (scan.index, scan.members.count)
                guard scan.object(text, depth: 1) else { return nil }
                objects.append(Object(range: start..<scan.index, members: first..<scan.members.count))
                scan.skipSpace(text)
            } while scan.consume(UInt8(ascii: ","), text)
            guard scan.consume(UInt8(ascii: "]"), text) else { return nil }
        }
        scan.skipSpace(text)
        guard scan.index == text.count else { return nil }
        members = scan.members
    }

    /// Whether a text is one object in plain form, so that an array that it is put into has it as an element.
    package static func isObject(_ text: Span<UInt8>) -> Bool {
        guard text.count <= JSONParser.sizeLimit, (try? UTF8Span(validating: text)) != nil else { return false }
        var scan = JSONScan()
        scan.skipSpace(text)
        guard scan.object(text, depth: 1) else { return false }
        scan.skipSpace(text)
        return scan.index == text.count
    }

    /// Finds the members of the object at a range from an earlier scan; empty if it is not an object.
    package static func members(of text: Span<UInt8>, at place: Range<Int>) -> [Member] {
        var scan = JSONScan(index: place.lowerBound)
        return scan.object(text, depth: 1) ? scan.members : []
    }
}

/// Scans a JSON text in plain form. A function that meets another form returns false, and leaves the index undefined.
private struct JSONScan {
    /// The deepest nesting to scan; anything deeper is left to the parser.
    private static let depthLimit = 64
    /// The most members of an object, because names are compared pairwise; larger objects are left to the parser.
    private static let memberLimit = 64
    /// The most characters of a number, so that it is certain to be finite; longer ones are left to the parser.
    private static let numberLimit = 100

    var index = 0
    /// The members of the outermost objects, and of those that contain the current position.
    private(set) var members: [JSONObjectSlices.Member] = []

    /// Scans an object; the members of one at depth 1 stay in ``members``.
    mutating func object(_ text: Span<UInt8>, depth: Int) -> Bool {
        guard depth < Self.depthLimit, consume(UInt8(ascii: "{"), text) else { return false }
        skipSpace(text)
        if consume(UInt8(ascii: "}"), text) { return true }
        let first = members.count
        repeat {
            skipSpace(text)
            let name = index + 1
            guard string(text, mayEscape: false) else { return false }
            let end = index - 1
            guard members.count - first < Self.memberLimit, isNew(name..<end, since: first, text) else { return false }
            skipSpace(text)
            guard consume(UInt8(ascii: ":"), text) else { return false }
            skipSpace(text)
            let start = index
            guard value(text, depth: depth + 1) else { return false }
            members.append(JSONObjectSlices.Member(name: name..<end, value: start..<index))
            skipSpace(text)
        } while consume(UInt8(ascii: ","), text)
        if depth > 1 { members.removeSubrange(first...) }
        return consume(UInt8(ascii: "}"), text)
    }

    /// Whether no member from an index on has the given name.
    private func isNew(_ name: Range<Int>, since first: Int, _ text: Span<UInt8>) -> Bool {
        for place in first..<members.count where members[place].name.count == name.count {
            let member = members[place]
            var offset = 0
            while offset < name.count, text[name.lowerBound + offset] == text[member.name.lowerBound + offset] {
                offset += 1
            }
            if offset == name.count { return false }
        }
        return true
    }

    private mutating func value(_ text: Span<UInt8>, depth: Int) -> Bool {
        guard index < text.count else { return false }
        switch text[index] {
        case UInt8(ascii: "\""): return string(text, mayEscape: true)
        case UInt8(ascii: "{"): return object(text, depth: depth)
        case UInt8(ascii: "["): return array(text, depth: depth)
        case UInt8(ascii: "t"): return word("true", text)
        case UInt8(ascii: "f"): return word("false", text)
        case UInt8(ascii: "n"): return word("null", text)
        default: return number(text)
        }
    }

    private mutating func array(_ text: Span<UInt8>, depth: Int) -> Bool {
        guard depth < Self.depthLimit else { return false }
        index += 1
        skipSpace(text)
        if consume(UInt8(ascii: "]"), text) { return true }
        repeat {
            skipSpace(text)
            guard value(text, depth: depth + 1) else { return false }
            skipSpace(text)
        } while consume(UInt8(ascii: ","), text)
        return consume(UInt8(ascii: "]"), text)
    }

    /// Scans a string. Escaped surrogates are not plain form.
    private mutating func string(_ text: Span<UInt8>, mayEscape: Bool) -> Bool {
        guard consume(UInt8(ascii: "\""), text) else { return false }
        while true {
            let end = PlainText.special(in: text, from: index)
            guard end < text.count else { return false }
            index = end + 1
            if text[end] == UInt8(ascii: "\"") { return true }
            guard text[end] == UInt8(ascii: "\\"), mayEscape, escape(text) else { return false }
        }
    }

    /// Scans the rest of an escape, after the backslash.
    private mutating func escape(_ text: Span<UInt8>) -> Bool {
        guard index < text.count else { return false }
        defer { index += 1 }
        switch text[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard index + 4 < text.count else { return false }
            for place in 1...4 where text[index + place].hexDigitValue == nil { return false }
            let isSurrogate = text[index + 1] | 0x20 == UInt8(ascii: "d") && text[index + 2] >= 0x38
            index += 4
            return !isSurrogate
        default: return false
        }
    }

    private mutating func number(_ text: Span<UInt8>) -> Bool {
        let start = index
        _ = consume(UInt8(ascii: "-"), text)
        if !consume(UInt8(ascii: "0"), text) { guard digits(text) else { return false } }
        if consume(UInt8(ascii: "."), text) { guard digits(text) else { return false } }
        // An exponent may exceed the range of Double.
        let isEnd = index == text.count || text[index] | 0x20 != UInt8(ascii: "e")
        return isEnd && index - start <= Self.numberLimit
    }

    private mutating func digits(_ text: Span<UInt8>) -> Bool {
        let start = index
        while index < text.count, text[index].isDigit { index += 1 }
        return index > start
    }

    private mutating func word(_ word: StaticString, _ text: Span<UInt8>) -> Bool {
        let end = index + word.utf8CodeUnitCount
        guard end <= text.count, text.extracting(index..<end).isEqual(to: word) else { return false }
        index = end
        return true
    }

    /// Skips whitespace.
    mutating func skipSpace(_ text: Span<UInt8>) {
        while index < text.count, text[index].isWhitespace { index += 1 }
    }

    /// Skips one byte if it is the expected one.
    mutating func consume(_ byte: UInt8, _ text: Span<UInt8>) -> Bool {
        guard index < text.count, text[index] == byte else { return false }
        index += 1
        return true
    }
}

extension Span<UInt8> {
    /// Whether the bytes equal those of a text.
    package func isEqual(to text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        let expected = unsafe UnsafeBufferPointer(start: text.utf8Start, count: count)
        for index in indices { guard unsafe self[index] == expected[index] else { return false } }
        return true
    }
}
