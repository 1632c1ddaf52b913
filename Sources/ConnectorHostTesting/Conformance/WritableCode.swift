// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Memory of an ELF image that can be both written and executed.
enum WritableCode {
    private static let loaded: UInt32 = 1
    private static let stack: UInt32 = 0x6474_E551

    /// The names of such segments; nil if the file is no ELF image of 64 bits.
    static func segments(of path: String) -> [String]? {
        guard let bytes = try? SystemFile.bytes(of: path, limit: 65536), bytes.count >= 64,
            bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2])
        else { return nil }
        func number(_ offset: Int, _ size: Int) -> UInt64? {
            guard offset >= 0, offset + size <= bytes.count else { return nil }
            return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let table = number(32, 8), let size = number(54, 2), let count = number(56, 2), table < 65536 else {
            return nil
        }
        var found: [String] = []
        for index in 0..<Int(count) {
            let header = Int(table) + index * Int(size)
            guard let type = number(header, 4), let flags = number(header + 4, 4) else { continue }
            // PF_X is 1, and PF_W is 2.
            guard flags & 3 == 3 else { continue }
            if type == UInt64(loaded) { found.append("segment \(index)") }
            if type == UInt64(stack) { found.append("stack") }
        }
        return found
    }
}
