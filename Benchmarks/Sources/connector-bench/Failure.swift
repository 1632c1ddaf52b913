// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why nothing can be measured.
struct Failure: Error, CustomStringConvertible {
    /// For people.
    let description: String

    /// Says why.
    init(_ description: String) {
        self.description = description
    }
}
