// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why the text of a fault was not understood.
public struct FaultError: Error, Equatable, CustomStringConvertible {
    /// The whole text, as it was given.
    public var specification: String
    /// What is wrong with it and what would be right.
    public var reason: String

    /// One line for people, naming the text and the remedy.
    public var description: String {
        "fault \"\(specification)\": \(reason)"
    }
}
