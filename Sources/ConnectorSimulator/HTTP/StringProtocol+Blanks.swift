// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The text without spaces, tabs and line ends at either end.
    package func trimmingBlanks() -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(self[first...last])
    }
}
