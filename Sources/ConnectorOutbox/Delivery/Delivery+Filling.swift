// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Filling a batch: what is sent together, and what waits for others.
extension Delivery {
    /// The next batch at a time of day: the repeated batch, or else as many events as a new one may have.
    func batch(at now: Timestamp, _ progress: Progress) async throws(ConnectorError) -> OutboxBatch {
        // No more than is repeated: where hosts share a queue, an event that is taken and given back counts as attempted.
        var limit = BatchLimits(count: progress.repeated.last?.count ?? progress.count, bytes: limits.bytes)
        let batch = try await dependencies.engine.batch(for: path, upTo: limit, now: now)
        guard let last = progress.repeated.last, !batch.entries.allSatisfy({ last.contains($0) }) else { return batch }
        // Others come first, or in between, and their batch has a size of its own.
        limit.count = progress.repeated.map(\.count).reduce(progress.count, max)
        return progress.part(of: try await dependencies.engine.batch(for: path, upTo: limit, now: now))
    }

    /// How long a batch waits for more events to share it, and how many more fill it; nil to send it now.
    ///
    /// A full batch never waits: `batchAge` only bounds how long a batch with room is held. Nor does what is repeated, which nothing joins.
    func gather(
        _ batch: OutboxBatch,
        _ progress: inout Progress,
        _ monotonic: UInt64,
        _ now: Timestamp
    ) -> (end: UInt64, enough: Arrivals)? {
        let first = batch.entries[0]
        let age = max(now.nanoseconds(after: first.createdAt), gathered(first.position, &progress))
        let bytes = batch.entries.reduce(0) { $0 + $1.bytes + 1 }
        let room = Arrivals(count: progress.count - batch.entries.count, bytes: limits.bytes - bytes)
        guard !batch.isFull, room.count > 0, room.bytes > 0, first.attempts == 0, !progress.hasUnsent,
            progress.repetition(of: batch) == nil, age < policy.batchAge.nanoseconds
        else { return nil }
        return (monotonic.saturatingAdding(policy.batchAge.nanoseconds - age), room)
    }

    /// How long the first event of a batch has been waiting for others, in nanoseconds by the monotonic clock.
    private func gathered(_ position: Int64, _ progress: inout Progress) -> UInt64 {
        let now = dependencies.clock.now()
        if let gathering = progress.gathering, gathering.position == position { return now - gathering.since }
        progress.gathering = (position, now)
        return 0
    }
}

extension Delivery.Progress {
    /// What of a batch is sent together: what belongs to the same repetition as its first event, or to none if that does not.
    func part(of batch: OutboxBatch) -> OutboxBatch {
        guard let first = batch.entries.first else { return batch }
        let repetition = repeated.last { $0.contains(first) }
        func belongs(_ index: Int) -> Bool {
            let entry = batch.entries[index]
            guard let repetition else { return !repeated.contains { $0.contains(entry) } }
            return repetition.contains(entry)
        }
        let indices = batch.entries.indices
        // Only retries are settled in any order: new events leave in the order of their arrival.
        let together = first.attempts > 0 ? indices.filter(belongs) : Array(indices.prefix(while: belongs))
        let sent = together.prefix(repetition?.count ?? count)
        guard sent.count < batch.entries.count else { return batch }
        var part = batch.part(sent)
        part.isFull = true
        return part
    }
}
