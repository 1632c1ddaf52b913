// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What waited at a connector's consumer when this host last read it.
///
/// The next reading shows whether events have gone that no host has settled. Other hosts do not report what they settle, but they can
/// settle only what the server hands out to them: at most the events that they had leased, and those that were handed out since and not to
/// this host. So what is counted as gone is gone, and there may be more of it.
///
/// A value without I/O.
struct NATSBacklog: Sendable {
    /// What this host does at a consumer. While the consumer is read, the counts change, and the server's answer is of a moment in
    /// between.
    struct Tally: Sendable {
        /// How many acknowledgements and deletions it has begun.
        var begun = 0
        /// How many of these have ended, whether or not they succeeded.
        var ended = 0
        /// How many deletions have returned that do not count as ended before the next reading: a consumer may learn of them later than
        /// the stream that confirms them.
        var deleted = 0
        /// How many events it was handed out, without those of requests during which the consumer was read.
        var received = 0

        /// Counts deletions as ended that had returned when the consumer was read.
        mutating func endDeletions(before: Self) {
            ended += before.deleted
            deleted -= before.deleted
        }
    }

    private var slot: Int
    private var waiting: Int
    private var deliveries: Int
    private var leader: String?
    private var created: Timestamp?
    /// The most events that other hosts can have had.
    private var others: Int
    /// What had ended before the consumer was read.
    private var ended: Int
    /// What had been received once it was read.
    private var received: Int

    /// Notes the state of a consumer.
    ///
    /// - Parameters:
    ///   - held: How many events this host had leased all the time while it was read.
    ///   - before: What this host had done before it was read.
    ///   - now: What it has done by now.
    ///   - known: The state before; nil for none.
    init(_ consumer: NATSSchema.Consumer, held: Int, before: Tally, now: Tally, after known: NATSBacklog?) {
        (slot, waiting, deliveries) = (consumer.slot, consumer.waiting, consumer.deliveries)
        (leader, created) = (consumer.leader, consumer.created)
        (ended, received) = (before.ended, now.received)
        others = max(0, consumer.leased - held)
        // A lease of this host that lapses is nobody's until the event is handed out again.
        if let known, let handedOut = known.handedOut(by: consumer, before) {
            others = min(others, known.others.saturatingAdding(handedOut))
        }
    }

    /// How many events have gone until the consumer, or the one that has its place, was read again.
    ///
    /// - Parameters:
    ///   - deletions: How many messages were deleted from the stream meanwhile, settled ones included. A host that had long been away may
    ///     settle what another one was handed out since; that deletes nothing.
    ///   - before: What this host had done before it was read.
    ///   - now: What it has done by now.
    func gone(from consumer: NATSSchema.Consumer, deletions: Int, before: Tally, now: Tally) -> Int {
        var explained = others.saturatingAdding(max(0, now.begun - ended))
        // What waits in another slot was stored later.
        guard consumer.slot == slot else { return waiting - min(waiting, explained) }
        guard let handedOut = handedOut(by: consumer, before) else { return 0 }
        explained = explained.saturatingAdding(consumer.waiting).saturatingAdding(handedOut)
        return min(deletions, waiting - min(waiting, explained))
    }

    /// How many events a consumer can have handed out to other hosts since; nil if that cannot be known.
    private func handedOut(by consumer: NATSSchema.Consumer, _ before: Tally) -> Int? {
        guard consumer.slot == slot else { return nil }
        // A new leader may not know the last ones. A stream that was made again has new leaders, too, but starts with none.
        if consumer.leader != leader {
            guard consumer.isAnother(than: created), consumer.deliveries <= deliveries else { return nil }
        }
        return max(0, max(0, consumer.deliveries - deliveries) - max(0, before.received - received))
    }
}

extension NATSSchema.Consumer {
    /// Whether the time of its creation is not that of a known one.
    ///
    /// After a restart, or from another leader, the time of one consumer differs, in a cluster by as long as a server was away. If it is
    /// taken for another one, no event is lost or delivered again: what the vendor takes is acknowledged when the server hands it out
    /// again.
    func isAnother(than known: Timestamp?) -> Bool {
        let (known, time) = (known?.nanoseconds ?? 0, created?.nanoseconds ?? 0)
        return max(known, time) - min(known, time) > 1_000_000_000
    }
}
