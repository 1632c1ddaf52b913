// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The offsets at which the lines of a text begin, so that many positions cost one pass over the text.
struct LineTable: Sendable {
    /// The offset of each line's first byte.
    private var starts: [UInt32] = [0]
    /// How many UTF-8 continuation bytes precede each block.
    private var continuations: [UInt32] = []

    /// The bytes in a block, which bounds the bytes counted for one column.
    private static let block = 1024

    /// Reads the text once.
    init(_ text: [UInt8]) {
        var count: UInt32 = 0
        for index in text.indices {
            let byte = text[index]
            if index % Self.block == 0 { continuations.append(count) }
            if byte == UInt8(ascii: "\n") { starts.append(UInt32(clamping: index + 1)) }
            if byte & 0xC0 == 0x80 { count += 1 }
        }
        continuations.append(count)
    }

    /// The position of a byte; an offset past the end means the end.
    ///
    /// - Parameter text: The text that the table was made from.
    func position(of offset: Int, in text: [UInt8], file: String) -> FilePosition {
        let offset = max(0, min(offset, text.count))
        // The last line that begins at the offset or before it.
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(starts[middle]) <= offset { low = middle } else { high = middle }
        }
        let start = Int(starts[low])
        let characters =
            offset - start - (continuations(before: offset, in: text) - continuations(before: start, in: text))
        return FilePosition(file: file, line: low + 1, column: characters + 1)
    }

    private func continuations(before offset: Int, in text: [UInt8]) -> Int {
        let block = offset / Self.block
        let counted = text[(block * Self.block)..<offset].count { $0 & 0xC0 == 0x80 }
        return Int(continuations[block]) + counted
    }
}
