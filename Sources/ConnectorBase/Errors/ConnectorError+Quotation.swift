// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError {
    /// How many characters to quote before and after the position.
    private static let reach = 60

    /// Adds the text around the position to the cause if the text is a single line, in which a column is hard to find.
    ///
    /// A manifest embedded by `CONNECTOR_MANIFEST` is such a text, because the preprocessor joins its lines.
    package mutating func quoteLine(of text: [UInt8]) {
        guard let position, position.line == 1, !text.contains(UInt8(ascii: "\n")), text.count > Self.reach else {
            return
        }
        let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
        guard position.column >= 1,
            let place = scalars.index(scalars.startIndex, offsetBy: position.column - 1, limitedBy: scalars.endIndex)
        else { return }
        let before = scalars[..<place].suffix(Self.reach)
        let after = scalars[place...].prefix(Self.reach)
        let quotation =
            (before.startIndex == scalars.startIndex ? "" : "…") + String(before) + " --> " + String(after)
            + (after.endIndex == scalars.endIndex ? "" : "…")
        cause = [cause, quotation].compactMap(\.self).joined(separator: "; ")
    }
}
