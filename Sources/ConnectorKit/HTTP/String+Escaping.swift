// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with a backslash before each of these characters, for text that a vendor takes in quotation marks.
    ///
    /// Works on Unicode scalars: `replacing` sees a quotation mark with a combining mark after it as a different
    /// character.
    package func escaping(_ characters: Unicode.Scalar...) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if characters.contains(scalar) { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}
