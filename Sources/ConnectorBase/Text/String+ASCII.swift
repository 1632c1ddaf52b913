// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Matches ASCII by bytes, as shells, file systems and dynamic linkers do.
///
/// `contains`, `hasPrefix` and `split` see a character with a combining mark after it as a different character.
extension StringProtocol {
    /// Whether it contains an ASCII text.
    @inlinable
    package func contains(ascii text: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: text.utf8) }
    }

    /// Whether it begins with an ASCII text.
    @inlinable
    package func starts(ascii text: String) -> Bool {
        utf8.starts(with: text.utf8)
    }

    /// Whether it equals an ASCII text, ignoring the case of ASCII letters.
    package func isEqual(asciiIgnoringCase text: String) -> Bool {
        utf8.count == text.utf8.count && zip(utf8, text.utf8).allSatisfy { $0.lowercased == $1.lowercased }
    }
}

extension StringProtocol where SubSequence == Substring, UTF8View.SubSequence == Substring.UTF8View {
    /// The parts between the occurrences of an ASCII character.
    @inlinable
    package func split(
        ascii separator: Unicode.Scalar,
        maxSplits: Int = .max,
        omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        utf8.split(maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences) {
            $0 == UInt8(ascii: separator)
        }
        .map { Substring($0) }
    }

    /// What comes before the first occurrence of an ASCII character; the whole text if there is none.
    @inlinable
    package func prefix(before separator: Unicode.Scalar) -> Substring {
        Substring(utf8.prefix { $0 != UInt8(ascii: separator) })
    }

    /// The media type in a field such as `Content-Type`, in lower case, without parameters and blanks.
    package var mediaType: String {
        String(decoding: prefix(before: ";").utf8.lazy.filter { !$0.isBlank }.map(\.lowercased), as: UTF8.self)
    }
}
