// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The events that an operator selects.
package struct RecordSelection: Sendable, Hashable {
    /// The connectors; nil for all.
    package var paths: Set<String>?
    /// The ids; nil for all.
    package var ids: Set<String>?
    /// The states; nil for all.
    package var states: Set<OutboxRecord.State>?
    /// The most records.
    package var limit: Int
    /// Where the previous page of records ended, for a selection of one state only; nil to begin with the first record.
    package var after: RecordCursor?

    /// Selects everything that is not excluded.
    package init(
        paths: Set<String>? = nil,
        ids: Set<String>? = nil,
        states: Set<OutboxRecord.State>? = nil,
        limit: Int = .max,
        after: RecordCursor? = nil
    ) {
        self.paths = paths
        self.ids = ids
        self.states = states
        self.limit = limit
        self.after = after
    }
}

/// What is known about one event at one connector.
package struct OutboxRecord: Sendable {
    /// The connector.
    package var path: String
    /// The event.
    package var event: OutboxEvent
    /// Its state.
    package var state: State
    /// When it is tried again, for one that is retried on its own.
    package var due: Timestamp?
    /// Every attempt, oldest first; consecutive attempts that failed alike are counted together.
    package var attempts: [PastAttempt]
    /// Its position among the records of its state; nil for one that came from elsewhere.
    package var cursor: RecordCursor?

    /// Describes an event at a connector.
    package init(
        path: String,
        event: OutboxEvent,
        state: State,
        due: Timestamp? = nil,
        attempts: [PastAttempt],
        cursor: RecordCursor? = nil
    ) {
        self.path = path
        self.event = event
        self.state = state
        self.due = due
        self.attempts = attempts
        self.cursor = cursor
    }

    /// The state of an event.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// It waits for its turn, or for its next attempt.
        case queued
        /// The vendor has it. Engines remember only the last ones.
        case delivered
        /// The vendor refuses it for good, or it was too old.
        case dead
        /// It was given up to make room in a full outbox, or by an operator. Engines remember at most the last ones.
        case dropped
    }
}
