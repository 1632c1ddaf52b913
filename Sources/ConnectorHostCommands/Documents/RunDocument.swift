// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The result of `connector-host run`.
struct RunDocument: Document {
    /// The number of undelivered events in the outbox.
    var queued: Int

    func lines(_ style: TextStyle) -> [String] {
        queued == 0 ? [] : ["\(queued) \(queued == 1 ? "event stays" : "events stay") in the outbox"]
    }

    var json: JSONValue { ["version": 1, "queued": .integer(Int64(queued))] }
}
