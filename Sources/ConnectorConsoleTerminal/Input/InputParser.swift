// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Parses the bytes that a terminal sends: keys, the mouse, and pasted text. Unknown sequences are skipped.
package struct InputParser: Sendable {
    private var bytes: [UInt8] = []
    /// The text being pasted; nil outside a paste.
    private var pasted: [UInt8]?

    /// The maximum length of a control sequence in bytes; longer input is discarded.
    private static let sequenceLimit = 64
    /// The maximum number of bytes kept of pasted text: a character more than a field takes, so that the field cuts it and says so.
    /// A field stores each newline, of up to three bytes, as one space.
    private static let pasteLimit = 3 * TerminalInput.pasteLimit + 4
    private static let escape: UInt8 = 0x1B
    private static let endOfPaste: [UInt8] = Array("\u{1B}[201~".utf8)

    /// Creates a parser.
    package init() {}

    /// How many milliseconds to wait for the rest of an incomplete input before ``flush()``; nil if there is none.
    ///
    /// A lone Escape may turn out to be the key. A paste may pause on a slow connection, where its rest must not arrive as keys; but if its
    /// end is lost, it must not hold back every later key, either.
    package var patience: Int32? { pasted != nil ? 2000 : bytes.isEmpty ? nil : 50 }

    /// Parses bytes.
    ///
    /// - Returns: The complete inputs.
    package mutating func feed(_ new: some Sequence<UInt8>) -> [TerminalInput] {
        bytes += new
        var inputs: [TerminalInput] = []
        while !bytes.isEmpty {
            if pasted != nil {
                guard let text = paste() else { return inputs }
                inputs.append(.paste(text))
                continue
            }
            guard let (input, count) = next() else { return inputs }
            bytes.removeFirst(count)
            if let input { inputs.append(input) }
        }
        return inputs
    }

    /// Ends an incomplete input after a timeout: a paste is what has arrived of it, a lone Escape is the Escape key, anything else is
    /// discarded.
    package mutating func flush() -> [TerminalInput] {
        defer { bytes = [] }
        if pasted != nil { return [.paste(endPaste(bytes[...]))] }
        return bytes == [Self.escape] ? [.key(.escape)] : []
    }

    /// The next input, nil if unknown, and its length in bytes. Returns nil if more bytes are needed.
    private mutating func next() -> (input: TerminalInput?, count: Int)? {
        switch bytes[0] {
        case Self.escape: return sequence()
        case 0x0D, 0x0A: return (.key(.enter), 1)
        case 0x09: return (.key(.tab), 1)
        case 0x7F, 0x08: return (.key(.backspace), 1)
        case 0x01...0x1A: return (.key(.control(Character(Unicode.Scalar(bytes[0] + 0x60)))), 1)
        case 0..<0x20: return (nil, 1)
        case let first: return character(first)
        }
    }

    private func character(_ first: UInt8) -> (input: TerminalInput?, count: Int)? {
        let length = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 0
        guard length > 0 else { return (nil, 1) }
        let rest = bytes.dropFirst().prefix(length - 1)
        guard rest.allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        guard rest.count == length - 1 else { return nil }
        let character = String(validating: bytes.prefix(length), as: UTF8.self)?.first
        return (character.map { .key(.character($0)) }, length)
    }

    /// Parses a sequence that starts with Escape (ECMA-48, 5.4).
    private mutating func sequence() -> (input: TerminalInput?, count: Int)? {
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "["): return controlSequence()
        case UInt8(ascii: "O"):
            guard bytes.count > 2 else { return nil }
            return (Self.key(bytes[2]).map { .key($0) }, 3)
        // The Escape key, followed by another key.
        default: return (.key(.escape), 1)
        }
    }

    private mutating func controlSequence() -> (input: TerminalInput?, count: Int)? {
        guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            return bytes.count > Self.sequenceLimit ? (nil, bytes.count) : nil
        }
        let (text, count) = (bytes[2..<end], end + 1)
        if text.first == UInt8(ascii: "<") { return (Self.mouse(text.dropFirst(), bytes[end]), count) }
        // A function key of the Linux console: the letter that follows is no key.
        if text.isEmpty, bytes[end] == UInt8(ascii: "[") { return bytes.count < count + 1 ? nil : (nil, count + 1) }
        // A mouse report from a terminal without mode 1006: the three bytes that follow are not keys.
        if text.isEmpty, bytes[end] == UInt8(ascii: "M") { return bytes.count < count + 3 ? nil : (nil, count + 3) }
        let numbers = Self.numbers(text)
        if bytes[end] == UInt8(ascii: "~") {
            switch numbers.first {
            case 1, 7: return (.key(.home), count)
            case 3: return (.key(.delete), count)
            case 4, 8: return (.key(.end), count)
            case 5: return (.key(.pageUp), count)
            case 6: return (.key(.pageDown), count)
            case 200:
                pasted = []
                return (nil, count)
            default: return (nil, count)
            }
        }
        return (Self.key(bytes[end]).map { .key($0) }, count)
    }

    private static func key(_ final: UInt8) -> TerminalInput.Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "M"): .enter
        case UInt8(ascii: "Z"): .backTab
        default: nil
        }
    }

    /// Parses a mouse report of mode 1006: the button, the column and the line, the last two counted from 1.
    private static func mouse(_ text: ArraySlice<UInt8>, _ final: UInt8) -> TerminalInput? {
        let numbers = numbers(text)
        guard final == UInt8(ascii: "M"), numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
        switch numbers[0] {
        case 0: return .click(column: numbers[1] - 1, line: numbers[2] - 1)
        case 64: return .wheel(-1)
        case 65: return .wheel(1)
        default: return nil
        }
    }

    private static func numbers(_ text: ArraySlice<UInt8>) -> [Int] {
        text.split(separator: UInt8(ascii: ";")).map { Int(String(decoding: $0, as: UTF8.self)) ?? -1 }
    }

    /// Collects pasted text, and returns it once it is complete; nil until then.
    private mutating func paste() -> String? {
        let end = bytes.indices.first { bytes[$0...].starts(with: Self.endOfPaste) }
        // Keep bytes that may start the end marker.
        let upTo = end ?? max(0, bytes.count - Self.endOfPaste.count + 1)
        let new = bytes[..<upTo]
        bytes.removeFirst(upTo)
        guard end != nil else {
            keep(new)
            return nil
        }
        bytes.removeFirst(Self.endOfPaste.count)
        return endPaste(new)
    }

    /// Adds to the pasted text as much as there is room for.
    private mutating func keep(_ new: ArraySlice<UInt8>) {
        let room = Self.pasteLimit - (pasted?.count ?? 0)
        pasted? += new.prefix(max(0, room))
    }

    /// Adds the last bytes to the pasted text, and returns it.
    private mutating func endPaste(_ last: ArraySlice<UInt8>) -> String {
        keep(last)
        defer { pasted = nil }
        return String(decoding: pasted ?? [], as: UTF8.self)
    }
}
