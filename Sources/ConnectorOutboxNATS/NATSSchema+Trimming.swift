// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How the stream gets shorter.
extension NATSSchema {
    /// Deletes the events that every connector has settled, but for the last ones.
    ///
    /// Every trim asks again what is settled, in this order: first how far the stream goes, then each connector. A
    /// connector counts as done with everything only if its consumer says that nothing waits and the stream has nothing for it
    /// beyond the consumer's acknowledgements: two different servers may lead them, and one that has lost touch may know less
    /// than the others.
    ///
    /// `STREAM.PURGE` would take one request for all. But a server 2.9 that is started again carries out the purges that its log still
    /// has, and then up to the end that the stream had at that time: with several replicas, events that no host has delivered are lost.
    ///
    /// Ends early if its task is cancelled.
    ///
    /// - Parameter count: How many of the last events stay in any case.
    func trim(keeping count: Int) async throws(ConnectorError) {
        let state = try await info(layout.stream)?["state"]
        guard let first = state?["first_seq"]?.integer, let last = state?["last_seq"]?.integer, first > 0,
            last > Int64(count)
        else { return }
        var settled = last - Int64(count)
        guard settled >= first else { return }
        for consumer in try await consumers().values where settled >= first {
            settled = min(settled, try await position(settledBy: consumer, upTo: last))
        }
        guard settled >= first else { return }
        // A stream that has become shorter is being trimmed by another host.
        guard try await info(layout.stream)?["state"]?["first_seq"]?.integer == first else { return }
        // What is left is trimmed the next time.
        let most = settled - first < Self.deletionsPerTrim ? settled : first + Self.deletionsPerTrim
        for start in stride(from: first, through: most, by: Self.deletions) where !Task.isCancelled {
            try await jetStream.discard(start...min(start + Int64(Self.deletions) - 1, most), of: layout.stream)
        }
    }

    /// How many messages are deleted at once.
    private static let deletions = 1000
    /// How many messages one trim deletes.
    private static let deletionsPerTrim: Int64 = 1_000_000

    /// The last number up to which a connector has settled all of its events.
    private func position(settledBy consumer: Consumer, upTo last: Int64) async throws(ConnectorError) -> Int64 {
        let filter = layout.filter(consumer.slot)
        guard let next = try await jetStream.message(layout.stream, from: consumer.floor + 1, filter: filter) else {
            return consumer.pending == 0 && consumer.leased == 0 ? last : consumer.floor
        }
        return next.sequence.map { max(consumer.floor, $0 - 1) } ?? consumer.floor
    }
}
