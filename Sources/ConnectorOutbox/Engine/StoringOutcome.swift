// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What became of events that were to be stored within bounds.
package struct StoringOutcome: Sendable {
    /// A connector whose callers must wait for room, so that nothing was done; nil if the events were stored or
    /// dropped.
    package var full: String?
    /// What was done to the store.
    package var step = OutboxStep(revision: 0, isApplied: [])
    /// The connectors that the events are stored for; the others dropped them.
    package var paths: [String] = []
    /// The events that made room, for each connector that dropped some.
    package var dropped: [String: Dropped] = [:]

    /// Creates the outcome of a step that has done nothing yet.
    package init() {}

    /// Events that made room for others.
    package struct Dropped: Sendable, Hashable {
        /// Their ids.
        package var ids: [String]
        /// The bytes of their payloads.
        package var bytes: Int
        /// When the oldest event that still waits was sent, apart from the new ones; nil if none waits.
        package var oldest: Timestamp?

        /// Lists events that made room.
        package init(ids: [String], bytes: Int, oldest: Timestamp?) {
            (self.ids, self.bytes, self.oldest) = (ids, bytes, oldest)
        }
    }
}
