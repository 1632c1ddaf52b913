// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A canonical prefix code as DEFLATE describes it by the lengths of its codes (RFC 1951, section 3.2.2).
struct HuffmanTable {
    /// How many codes there are of each length from 0 to 15.
    private var counts: [UInt16]
    /// The symbols, ordered by code.
    private var symbols: [UInt16]

    /// Builds the code, or fails when more codes are described than the lengths leave room for.
    init(lengths: some Collection<UInt8>) throws(InflateError) {
        counts = Array(repeating: 0, count: 16)
        for length in lengths { counts[Int(length & 15)] += 1 }
        counts[0] = 0
        var room = 1
        for length in 1...15 {
            room = room * 2 - Int(counts[length])
            guard room >= 0 else { throw .corrupt }
        }
        var offsets = Array(repeating: 0, count: 16)
        for length in 1..<15 { offsets[length + 1] = offsets[length] + Int(counts[length]) }
        symbols = Array(repeating: 0, count: lengths.count)
        for (symbol, length) in lengths.enumerated() where length != 0 {
            symbols[offsets[Int(length)]] = UInt16(truncatingIfNeeded: symbol)
            offsets[Int(length)] += 1
        }
    }

    /// Reads one symbol, bit by bit: a code of length n is found among the n-bit codes by its distance from the first.
    func symbol(from reader: inout BitReader) throws(InflateError) -> Int {
        var code = 0
        var first = 0
        var index = 0
        for length in 1...15 {
            code |= try reader.bits(1)
            let count = Int(counts[length])
            if code - first < count { return Int(symbols[index + code - first]) }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw .corrupt
    }
}
