// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with a backslash before each of some characters, for what a vendor takes in quotation marks.
    ///
    /// By Unicode scalars: to `replacing`, a quotation mark and a combining mark after it are another character.
    package func escaping(_ characters: Unicode.Scalar...) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if characters.contains(scalar) { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}
