// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension [String] {
    /// The first eight texts, separated by commas, and how many more there are.
    package var listed: String {
        prefix(8).joined(separator: ", ") + (count > 8 ? ", … (\(count - 8) more)" : "")
    }
}
