// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The start and end of functions, from the sorted unwinding table (`.eh_frame_hdr`, Linux Standard Base, section
/// 10.6.2).
///
/// An unknown address, such as that of a function without unwinding information, counts as outside every function.
package struct FunctionIndex {
    private let bytes: ImageBytes
    /// The table's file offset and number of entries; nil if the image has no table in the usual format.
    private let table: (start: Int, count: Int)?
    /// The address that the entries are relative to.
    private let base: UInt64
    private let image: ELFImage

    /// Finds the table of an image.
    package init(_ image: ELFImage) {
        self.image = image
        bytes = image.bytes
        let segment = image.segment(ELFConstant.unwindIndex)
        base = segment?.address ?? 0
        // The usual format: version 1, a four-byte count, and pairs of four-byte offsets relative to the table.
        guard let segment, image.offset(ofAddress: segment.address) == segment.offset,
            bytes.integer(at: segment.offset, as: UInt8.self) == 1,
            bytes.integer(at: segment.offset + 2, as: UInt16.self) == 0x3B03,
            let count = bytes.integer(at: segment.offset + 8, as: UInt32.self),
            Int(count) <= (segment.size - 12) / 8, segment.size >= 12
        else {
            table = nil
            return
        }
        table = (segment.offset + 12, Int(count))
    }

    /// Whether an address is inside a function, after its first instruction.
    package func isWithinFunction(_ address: UInt64) -> Bool {
        guard let table, let target = Int32(exactly: Int64(bitPattern: address &- base)) else { return false }
        var low = 0
        var high = table.count
        while low < high {
            let middle = (low + high) / 2
            guard let start = bytes.integer(at: table.start + middle * 8, as: Int32.self) else { return false }
            if start <= target { low = middle + 1 } else { high = middle }
        }
        guard low > 0, let start = bytes.integer(at: table.start + (low - 1) * 8, as: Int32.self), start != target,
            let entry = bytes.integer(at: table.start + (low - 1) * 8 + 4, as: Int32.self)
        else { return false }
        return UInt64(Int64(target) - Int64(start)) < length(at: base &+ UInt64(bitPattern: Int64(entry)), start: start)
    }

    /// The length of an entry's function in `.eh_frame`; 0 if the entry does not have the usual format.
    private func length(at address: UInt64, start: Int32) -> UInt64 {
        guard let offset = image.offset(ofAddress: address), let begin = bytes.integer(at: offset + 8, as: Int32.self),
            let length = bytes.integer(at: offset + 12, as: UInt32.self)
        else { return 0 }
        // In the usual format, the start is relative to the field; otherwise the two starts differ.
        let function = address &+ 8 &+ UInt64(bitPattern: Int64(begin))
        return function == base &+ UInt64(bitPattern: Int64(start)) ? UInt64(length) : 0
    }
}
