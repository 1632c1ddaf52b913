// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Trimming of the stream.
extension NATSSchema {
    /// Deletes the events that every connector has settled, except the last ones.
    ///
    /// Every trim queries the state again, in this order: first the end of the stream, then each consumer. A connector has settled
    /// everything only if its consumer reports nothing pending and the stream contains nothing for it beyond the consumer's
    /// acknowledgements: different servers may lead the two, and a server that is partitioned may know less than the others.
    ///
    /// `STREAM.PURGE` would need only one request. But a restarted server 2.9 replays the purges in its log up to the end that the
    /// stream had at that time: with several replicas, undelivered events are lost.
    ///
    /// Ends early if its task is cancelled.
    ///
    /// - Parameter count: The number of most recent events to keep in any case.
    /// - Returns: Whether there was anything to delete.
    func trim(keeping count: Int) async throws(ConnectorError) -> Bool {
        let state = try await info(layout.stream)?["state"]
        guard let first = state?["first_seq"]?.integer, let last = state?["last_seq"]?.integer, first > 0,
            last > Int64(count), last < Int64.max - Self.deletionsPerTrim
        else { return false }
        var settled = last - Int64(count)
        guard settled >= first else { return false }
        for consumer in try await consumers().values where settled >= first {
            settled = min(settled, try await position(settledBy: consumer, upTo: last))
        }
        guard settled >= first else { return false }
        // If the stream has become shorter, another host is trimming it.
        guard try await info(layout.stream)?["state"]?["first_seq"]?.integer == first, !Task.isCancelled else {
            return false
        }
        // Alone: what the user may not do is denied once, and not for each event.
        _ = try await jetStream.delete(first, of: layout.stream)
        // The rest is deleted by the next trim.
        let end = settled - first < Self.deletionsPerTrim ? settled : first + Self.deletionsPerTrim - 1
        for start in stride(from: first + 1, through: end, by: Self.batchSize) where !Task.isCancelled {
            try await jetStream.discard(start...min(start + Int64(Self.batchSize) - 1, end), of: layout.stream)
        }
        return true
    }

    /// The number of messages to delete before awaiting a response.
    private static let batchSize = 1000
    /// The maximum number of messages that one trim deletes.
    private static let deletionsPerTrim: Int64 = 1_000_000

    /// The last sequence number up to which a connector has settled all of its events.
    private func position(settledBy consumer: Consumer, upTo last: Int64) async throws(ConnectorError) -> Int64 {
        let filter = layout.filter(consumer.slot)
        guard let next = try await jetStream.message(layout.stream, from: consumer.floor + 1, filter: filter) else {
            return consumer.pending == 0 && consumer.leased == 0 ? last : consumer.floor
        }
        return next.sequence.map { max(consumer.floor, $0 - 1) } ?? consumer.floor
    }
}
