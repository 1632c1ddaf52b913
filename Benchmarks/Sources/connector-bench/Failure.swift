// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why nothing can be measured.
struct Failure: Error, CustomStringConvertible {
    /// The reason, for people.
    let description: String

    /// The program's exit status.
    let status: Int32

    /// Creates a failure with a reason.
    init(_ description: String, status: Int32 = 1) {
        self.description = description
        self.status = status
    }
}
