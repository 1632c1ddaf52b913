// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Repeating a batch unchanged after a failed attempt.
extension Delivery {
    /// The repeated batch: events that kept their places after a failed attempt, and are sent together again. If only the answer was
    /// lost, the vendor has the events, and some vendors recognize a batch but not its events.
    struct Repetition {
        /// How many of them the next attempt sends: all, or half if the attempt is to be smaller. Events that have arrived since do not
        /// join them.
        var count: Int
        /// The positions of all of them.
        var positions: Set<Int64>
        /// Whether they waited on their own before, or do so if all fail by themselves once more.
        var waitAlone: Bool
        /// Whether their number or one of them may be to blame: the attempt took too long, ended the plugin's runner, or failed as a whole
        /// for a reason that is not the connection's.
        var isSuspect: Bool

        /// Whether an event belongs to the repeated batch.
        func contains(_ entry: OutboxBatch.Entry) -> Bool { positions.contains(entry.position) }

        /// Whether any event of a batch belongs to the repeated one.
        func contains(_ batch: OutboxBatch) -> Bool { batch.entries.contains { contains($0) } }
    }

    /// Whether the events of a batch have failed before and wait on their own.
    func waitAlone(_ batch: OutboxBatch, _ progress: Progress) -> Bool {
        // Where hosts share a queue, a repeated batch comes back as if it had waited on its own.
        if let repetition = progress.repetition(of: batch) { return repetition.waitAlone }
        return batch.entries[0].attempts > 0
    }

    /// Makes the next attempt repeat the events at these positions, or half of them after two suspect attempts in a row.
    func keep(
        _ positions: [Int64],
        of batch: OutboxBatch,
        waitAlone: Bool,
        isSuspect: Bool,
        _ progress: inout Progress
    ) {
        // If others of the batch were settled, the rest is a new attempt.
        var count = positions.count
        if isSuspect, count == batch.entries.count, progress.repetition(of: batch)?.isSuspect == true {
            // Losing the answer twice in a row is unlikely: the batch takes too long, or an event in it ends the plugin or makes it fail.
            count = max(1, count / 2)
            progress.count = count
            // The size may not have been the cause, so it is tried again after a while.
            progress.slowDeliveriesLeft = 8
        }
        progress.endRepetition(of: batch)
        guard count > 0 else { return }
        progress.repeated.append(
            Repetition(count: count, positions: Set(positions), waitAlone: waitAlone, isSuspect: isSuspect)
        )
    }
}
