// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A JSON text, and the file it was read from.
package struct JSONText: Sendable, Hashable {
    /// UTF-8; empty for values that were made without a text.
    package let bytes: [UInt8]
    /// The file that positions name; empty if there is none.
    package let file: String

    /// Stores its arguments.
    package init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
    }
}
