// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The answer of a command, which can render itself in each format.
protocol Document: Sendable {
    /// The human-readable lines.
    func lines(_ style: TextStyle) -> [String]

    /// The machine-readable document: an object with the member `version`.
    var json: JSONValue { get }
}
