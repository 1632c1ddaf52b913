// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The answer of a command, in every format.
protocol Document: Sendable {
    /// The answer for people, line by line.
    func lines(_ style: TextStyle) -> [String]

    /// The answer for programs: an object with the member `version`.
    var json: JSONValue { get }
}
