// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why nothing can be measured.
struct Failure: Error, CustomStringConvertible {
    /// For people.
    let description: String

    /// What the program ends with.
    let status: Int32

    /// Says why.
    init(_ description: String, status: Int32 = 1) {
        self.description = description
        self.status = status
    }
}
