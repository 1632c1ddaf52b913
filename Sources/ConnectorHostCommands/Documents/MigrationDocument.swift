// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The changes that `outbox migrate` made.
struct MigrationDocument: Document {
    /// One sentence for each change.
    var done: [String]

    func lines(_ style: TextStyle) -> [String] { done.isEmpty ? ["nothing to do"] : done }

    var json: JSONValue { ["version": 1, "done": .array(done.map(JSONValue.string))] }
}
