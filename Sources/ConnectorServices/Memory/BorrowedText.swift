// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A copy of text that a plugin lent, repaired if it breaks the rules.
package struct BorrowedText: Sendable {
    /// UTF-8; malformed sequences are replaced by U+FFFD.
    package var text: String
    /// Whether the text was longer than the limit.
    package var isTooLong = false
    /// Whether the text followed the header's rules: UTF-8, within the limit, not null with a nonzero length.
    package var isSound = true

    /// Copies at most `limit + margin` bytes.
    package init(_ start: UnsafePointer<CChar>?, _ length: UInt64, limit: Int, margin: Int) {
        guard length > 0 else {
            text = ""
            return
        }
        guard let start = unsafe start else {
            text = ""
            isSound = false
            return
        }
        isTooLong = length > UInt64(limit)
        let count = Int(min(length, UInt64(limit + margin)))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        if let valid = unsafe String(validating: bytes, as: UTF8.self) {
            text = valid
            isSound = !isTooLong
        } else {
            text = unsafe String(decoding: bytes, as: UTF8.self)
            isSound = false
        }
    }
}
