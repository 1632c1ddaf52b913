// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The text without spaces, tabs and line ends at either end.
    package func trimmingBlanks() -> String {
        let scalars = unicodeScalars
        let isText: (Unicode.Scalar) -> Bool = { !" \t\n\r".unicodeScalars.contains($0) }
        guard let first = scalars.firstIndex(where: isText), let last = scalars.lastIndex(where: isText) else {
            return ""
        }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }
}
