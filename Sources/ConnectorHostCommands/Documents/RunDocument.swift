// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The result of `connector-host run`.
struct RunDocument: Document {
    /// How many events wait in the outbox.
    var left: Int

    func lines(_ style: TextStyle) -> [String] {
        left == 0 ? [] : ["\(left) \(left == 1 ? "event stays" : "events stay") in the outbox"]
    }

    var json: JSONValue { ["version": 1, "queued": .integer(Int64(left))] }
}
