// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Reads the DEFLATE format (RFC 1951), of which gzip and zlib are wrappers.
///
/// Written here rather than taken from zlib so that a vendor can be asked without a connection, and so that this module
/// brings no C library into the one executable it is linked into. A request body is small: it is not tuned for speed.
struct Inflate {
    /// Takes bits from the compressed bytes.
    private(set) var reader: BitReader
    /// What came out so far; back references point into it.
    private(set) var output: [UInt8] = []
    /// The most bytes that may come out.
    private let limit: Int

    /// Prepares to read one DEFLATE stream that begins at `position`.
    init(_ bytes: [UInt8], from position: Int, limit: Int) {
        self.reader = BitReader(bytes, from: position)
        self.limit = limit
    }

    /// Reads blocks until the one that is marked as the last.
    mutating func run() throws(InflateError) {
        var isLast = false
        while !isLast {
            isLast = try reader.bits(1) == 1
            switch try reader.bits(2) {
            case 0: try stored()
            case 1: try compressed(Self.fixedLiterals(), Self.fixedDistances())
            case 2: try dynamic()
            default: throw .corrupt
            }
        }
        reader.alignToByte()
    }

    /// Copies a block that is not compressed.
    private mutating func stored() throws(InflateError) {
        reader.alignToByte()
        let length = try reader.bits(16)
        let complement = try reader.bits(16)
        guard length == complement ^ 0xFFFF else { throw .corrupt }
        guard length <= limit - output.count else { throw .tooLarge }
        output += try reader.bytes(length)
    }

    /// Reads the two codes of a block, themselves compressed, and then the block (RFC 1951, section 3.2.7).
    private mutating func dynamic() throws(InflateError) {
        let literalCount = try reader.bits(5) + 257
        let distanceCount = try reader.bits(5) + 1
        let lengthCount = try reader.bits(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw .corrupt }
        var codeLengths = [UInt8](repeating: 0, count: 19)
        for index in 0..<lengthCount { codeLengths[Self.lengthOrder[index]] = UInt8(try reader.bits(3)) }
        let table = try HuffmanTable(lengths: codeLengths)
        var lengths: [UInt8] = []
        let total = literalCount + distanceCount
        while lengths.count < total {
            switch try table.symbol(from: &reader) {
            case let length where length < 16: lengths.append(UInt8(length))
            case 16:
                guard let previous = lengths.last else { throw .corrupt }
                lengths += Array(repeating: previous, count: 3 + (try reader.bits(2)))
            case 17: lengths += Array(repeating: 0, count: 3 + (try reader.bits(3)))
            default: lengths += Array(repeating: 0, count: 11 + (try reader.bits(7)))
            }
        }
        guard lengths.count == total, lengths[256] != 0 else { throw .corrupt }
        try compressed(
            HuffmanTable(lengths: lengths[..<literalCount]),
            HuffmanTable(lengths: lengths[literalCount...])
        )
    }

    /// Reads literals and back references until the block ends.
    private mutating func compressed(_ literals: HuffmanTable, _ distances: HuffmanTable) throws(InflateError) {
        while true {
            let symbol = try literals.symbol(from: &reader)
            if symbol == 256 { return }
            if symbol < 256 {
                guard output.count < limit else { throw .tooLarge }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengthBases.count else { throw .corrupt }
            let length = Self.lengthBases[symbol - 257] + (try reader.bits(Self.lengthExtraBits[symbol - 257]))
            let code = try distances.symbol(from: &reader)
            guard code < Self.distanceBases.count else { throw .corrupt }
            let distance = Self.distanceBases[code] + (try reader.bits(code < 4 ? 0 : code / 2 - 1))
            guard distance <= output.count else { throw .corrupt }
            guard length <= limit - output.count else { throw .tooLarge }
            // Byte by byte, because a reference may overlap what it writes.
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }

    /// The code of literals and lengths that blocks of type 1 use.
    private static func fixedLiterals() throws(InflateError) -> HuffmanTable {
        let lengths = (0..<288).map { symbol -> UInt8 in symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8 }
        return try HuffmanTable(lengths: lengths)
    }

    /// The code of distances that blocks of type 1 use.
    private static func fixedDistances() throws(InflateError) -> HuffmanTable {
        try HuffmanTable(lengths: [UInt8](repeating: 5, count: 30))
    }

    /// The order in which the lengths of the length code are sent.
    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    /// The shortest length that each length symbol stands for.
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    /// How many bits are added to it.
    private static let lengthExtraBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    /// The shortest distance that each distance symbol stands for.
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12289, 16385, 24577,
    ]
}
