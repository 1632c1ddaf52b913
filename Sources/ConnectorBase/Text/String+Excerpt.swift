// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The text shortened for a message: whole if it is short, otherwise its beginning and its end.
    ///
    /// Values in files may be megabytes long, too long for a message.
    package var excerpt: String { excerpt(of: 100) }

    /// The text, cut in the middle to about `length` Unicode scalars.
    package func excerpt(of length: Int) -> String {
        // Scalars, because a single character can be as long as the text.
        guard utf8.count > length, unicodeScalars.count > length else { return String(self) }
        var excerpt = String.UnicodeScalarView(unicodeScalars.prefix(length * 2 / 3))
        excerpt.append("…")
        excerpt.append(contentsOf: unicodeScalars.suffix(length / 3 - 1))
        return String(excerpt)
    }
}
