// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The longest prefix of whole Unicode scalars within a limit of bytes.
    package func utf8Prefix(_ limit: Int) -> [UInt8] {
        let bytes = utf8.prefix(limit + 1)
        guard bytes.count > limit else { return Array(bytes) }
        var end = limit
        let array = Array(bytes)
        while end > 0, array[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(array[..<end])
    }
}
