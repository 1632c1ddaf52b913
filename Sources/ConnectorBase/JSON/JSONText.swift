// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A JSON text, and the file it was read from.
package struct JSONText: Sendable, Hashable {
    /// The text in UTF-8; empty for values created without one.
    package let bytes: [UInt8]
    /// The file that positions name, as it was given; empty if there is none.
    package let file: String
    /// The path by which to open the file; empty if there is none.
    package let path: String

    /// Creates a text.
    package init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file.withGivenPaths
        path = file
    }
}
