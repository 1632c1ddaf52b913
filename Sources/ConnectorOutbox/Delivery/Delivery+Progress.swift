// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Delivery {
    /// What one pass of the loop carries to the next.
    struct Progress {
        /// The most events of a new batch; less than the limit while a refused batch is searched, and after two suspect attempts in a row:
        /// see ``Repetition/isSuspect``.
        var count: Int
        /// The batches that keep their place after failed attempts, latest last; forgotten once some of their events are gone.
        var repeated: [Repetition] = []
        /// How many attempts in a row have failed, as a whole or for some of their events.
        var failures = 0
        /// Why the last of them failed; nil once one has succeeded.
        var failure: DeliveryFailure?
        /// The monotonic time before which the vendor has asked for no attempt; nil once that wait has ended.
        var asked: UInt64?
        /// The id of the event last reported as ending the plugin's runner; nil once an attempt has succeeded.
        var named: String?
        /// How many more slow deliveries must succeed before the batches grow again; more than zero only after a timeout.
        var slowDeliveriesLeft = 0
        /// The monotonic time before which the pace allows no batch.
        var start: UInt64 = 0
        /// The time of day less the monotonic time, in nanoseconds, when they were last compared.
        var offset: Int64?
        /// Whether the last delivery left events of its batch unsent. They wait for no others to share theirs.
        var hasUnsent = false
        /// Why the events that were last set to retry on their own failed, and when they are due; nil once an attempt has succeeded
        /// since.
        var left: (failure: DeliveryFailure, until: Timestamp)?
        /// Whether the last delivery did that.
        var hasLeft = false
        /// The event that waits for others to share its batch, and the monotonic time at which it was found.
        var gathering: (position: Int64, since: UInt64)?

        /// The repetition that a batch continues; nil if none of its events is being repeated.
        func repetition(of batch: OutboxBatch) -> Repetition? { repeated.last { $0.contains(batch) } }

        /// Forgets the repetition that a batch continued: it is not to be repeated unchanged again.
        mutating func endRepetition(of batch: OutboxBatch) { repeated.removeAll { $0.contains(batch) } }
    }
}
