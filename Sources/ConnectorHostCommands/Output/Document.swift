// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The answer of a command, which every format can show.
protocol Document: Sendable {
    /// For people, line by line.
    func lines(_ style: TextStyle) -> [String]

    /// For programs: an object with the member `version`.
    var json: JSONValue { get }
}
