// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A copy of text that a plugin lent, repaired if it breaks the rules.
package struct BorrowedText: Sendable {
    /// UTF-8; malformed sequences are replaced by U+FFFD.
    package var text: String
    /// Whether the text followed the header's rules: UTF-8, within the limit.
    package var isSound: Bool

    /// Copies a text.
    package init(_ bytes: UnsafeRawBufferPointer, limit: Int) {
        if let valid = unsafe String(validating: bytes, as: UTF8.self) {
            text = valid
            isSound = bytes.count <= limit
        } else {
            text = unsafe String(decoding: bytes, as: UTF8.self)
            isSound = false
        }
    }
}
