// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text that equals only texts with the same code points.
///
/// A `String` also equals texts that are merely equivalent in Unicode, such as `é` as one code point and as two.
package struct ExactText: Sendable, Hashable {
    /// The text.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) {
        self.text = text
    }

    /// Whether two texts have the same code points.
    package static func isSame(_ text: String, _ other: String) -> Bool {
        text.utf8.count == other.utf8.count && text.utf8.elementsEqual(other.utf8)
    }

    /// Compares code points.
    package static func == (left: Self, right: Self) -> Bool { isSame(left.text, right.text) }

    /// Hashes code points.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // UTF-8 never contains this byte, so it separates texts that are hashed one after the other.
        hasher.combine(UInt8.max)
    }
}

extension ExactText: Comparable {
    /// Orders by bytes, as servers list names.
    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
