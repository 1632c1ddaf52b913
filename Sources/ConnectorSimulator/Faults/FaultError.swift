// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The reason the text of a fault is invalid.
public struct FaultError: Error, Equatable, CustomStringConvertible {
    /// The text of the fault, as given.
    public var specification: String
    /// The problem and the remedy.
    public var reason: String

    /// One line with the text and the remedy.
    public var description: String {
        "fault \"\(specification)\": \(reason)"
    }
}
