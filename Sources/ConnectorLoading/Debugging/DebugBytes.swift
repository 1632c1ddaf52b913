// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A position in the bytes of a section of debugging information (DWARF).
///
/// Reading past the end yields zeros, and sets ``isExhausted``.
struct DebugBytes {
    private let bytes: [UInt8]
    /// The offset of the next value in the section.
    private(set) var offset: Int
    /// The offset at which the readable part ends.
    private(set) var end: Int
    /// Whether a read went past the end.
    private(set) var isExhausted = false

    /// Starts at the beginning of a section.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        offset = 0
        end = bytes.count
    }

    /// The number of bytes not yet read.
    var remaining: Int { end - offset }

    /// Advances by a number of bytes, at most to the end.
    mutating func skip(_ count: UInt64) {
        guard let count = Int(exactly: count), count <= remaining else {
            offset = end
            isExhausted = true
            return
        }
        offset += count
    }

    /// Splits off the next bytes; this position continues after them.
    mutating func part(_ count: UInt64) -> DebugBytes {
        var part = self
        skip(count)
        part.end = offset
        return part
    }

    /// A position at another offset of the same section.
    func moved(to place: UInt64) -> DebugBytes {
        var moved = self
        moved.offset = Int(exactly: place).map { min($0, end) } ?? end
        return moved
    }

    /// Reads a little-endian number of up to eight bytes.
    mutating func number(_ size: Int) -> UInt64 {
        guard size <= remaining, size <= 8 else {
            skip(UInt64(size))
            isExhausted = true
            return 0
        }
        defer { offset += size }
        return (0..<size).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }

    /// Reads an unsigned LEB128 number; bits beyond 64 are dropped.
    mutating func unsigned() -> UInt64 { leb128().value }

    /// Reads a signed LEB128 number.
    mutating func signed() -> Int64 {
        let (value, shift, isNegative) = leb128()
        return Int64(bitPattern: isNegative && shift < 64 ? value | .max << shift : value)
    }

    private mutating func leb128() -> (value: UInt64, shift: UInt64, isNegative: Bool) {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = number(1)
            if shift < 64 { value |= (byte & 0x7F) << shift }
            shift += 7
            if byte & 0x80 == 0 { return (value, shift, byte & 0x40 != 0) }
        }
    }

    /// The text that begins here, cut if it is longer than any path.
    var text: String {
        String(decoding: bytes[offset..<end].prefix(4096).prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Advances past a text and its NUL, and returns its position.
    mutating func skipText() -> DebugBytes {
        let start = self
        skip(UInt64(bytes[offset..<end].prefix { $0 != 0 }.count) + 1)
        return start
    }
}
