// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why the text of a fault was not understood.
package struct FaultError: Error, Equatable, CustomStringConvertible {
    /// The whole text, as it was given.
    package var specification: String
    /// What is wrong with it and what would be right.
    package var reason: String

    /// One line for people, naming the text and the remedy.
    package var description: String {
        "fault \"\(specification)\": \(reason)"
    }
}
