// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A text that equals only texts of the same code points.
///
/// A `String` also equals those that are merely equivalent in Unicode: an `é` of one code point and one of two.
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
        // No UTF-8 contains it: texts that are hashed one after the other stay apart.
        hasher.combine(UInt8.max)
    }
}

extension ExactText: Comparable {
    /// The order of bytes, in which servers list names.
    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
