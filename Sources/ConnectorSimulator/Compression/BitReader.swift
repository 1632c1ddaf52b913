// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Takes bits from bytes, lowest bit first, as DEFLATE packs them.
struct BitReader {
    /// The compressed bytes.
    private let bytes: [UInt8]
    /// The next byte to take bits from.
    private(set) var position: Int
    /// Bits taken from a byte but not handed out yet.
    private var held: UInt32 = 0
    /// How many bits `held` has, fewer than 8 between calls.
    private var heldCount = 0

    /// Starts at the first bit of the byte at `position`.
    init(_ bytes: [UInt8], from position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// The next `count` bits, at most 16, as a number.
    mutating func bits(_ count: Int) throws(InflateError) -> Int {
        while heldCount < count {
            guard position < bytes.count else { throw .truncated }
            held |= UInt32(bytes[position]) << UInt32(heldCount)
            position += 1
            heldCount += 8
        }
        let value = held & (1 << UInt32(count) - 1)
        held >>= UInt32(count)
        heldCount -= count
        return Int(value)
    }

    /// Drops what is left of the current byte.
    mutating func alignToByte() {
        held = 0
        heldCount = 0
    }

    /// The next `count` whole bytes; call it aligned.
    mutating func bytes(_ count: Int) throws(InflateError) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw .truncated }
        defer { position += count }
        return bytes[position..<position + count]
    }
}
