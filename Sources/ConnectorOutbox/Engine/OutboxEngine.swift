// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Where an outbox keeps its events.
///
/// An engine stores each event once, however many connectors it goes to, and knows how far each connector has come. It
/// neither delivers nor waits: ``Delivery`` asks for batches, and reports what became of them.
///
/// Every function may be called from any task. A `ConnectorError` of code `storage` says that the call failed and that
/// nothing has changed. If servers do not answer, something may have changed, and the same call may be made again.
package protocol OutboxEngine: Sendable {
    /// The durability guarantee of events that ``append(_:to:_:)`` has stored, in one sentence for the report.
    var stability: String { get }

    /// Whether other hosts deliver from the store, too.
    var isShared: Bool { get }

    /// Stores events for connectors in one step, and returns once they are stable.
    ///
    /// An event whose id is already stored is stored only for the connectors for which it was not stored before.
    ///
    /// - Parameter onStored: Called with the result before this returns, on the thread that has stored the events. It must not block.
    ///   Not called if this throws.
    /// - Returns: For each event, whether it is new.
    /// - Throws: `conflict` if a different event has that id, and a connector does not have it. Engines on servers that recognize
    ///   ids by themselves do not notice.
    func append(
        _ events: [OutboxEvent],
        to paths: [String],
        _ onStored: @escaping @Sendable (OutboxStep) -> Void
    ) async throws(ConnectorError) -> OutboxStep

    /// Stores events as ``append(_:to:_:)`` does, for the connectors whose queues have room; checks for room and stores
    /// in one step.
    ///
    /// - Parameter onStored: Called as for ``append(_:to:_:)``, even if a full queue has kept the events from being stored.
    /// - Returns: Nil if the engine cannot do both in one step, and has done neither.
    func append(
        _ events: [OutboxEvent],
        to paths: [String],
        within bounds: [String: QueueBound],
        _ onStored: @escaping @Sendable (StoringOutcome) -> Void
    ) async throws(ConnectorError) -> StoringOutcome?

    /// Stores an event and deletes it again, to show that events can be stored.
    func prove() async throws(ConnectorError)

    /// Checks that the store has what it needs to take events for connectors, and to hand them out: an operator may have deleted it, or
    /// its disk may be full.
    ///
    /// - Throws: `missing` or `storage` if it has not.
    func check(_ paths: [String]) async throws(ConnectorError)

    /// The next events of a connector, oldest first: those whose next attempt is due, or else new ones.
    ///
    /// All events of a batch have the same capability. The batch is empty if nothing is due. Until it is settled, the caller
    /// gets the same events again, and an engine that hosts share gives them to no other host.
    ///
    /// - Parameter now: The time of day. At time 0, no retry is due, even one without a wait.
    func batch(for path: String, upTo limits: BatchLimits, now: Timestamp) async throws(ConnectorError) -> OutboxBatch

    /// Records an attempt to deliver a batch, and what became of each of its events.
    ///
    /// - Parameters:
    ///   - batch: The batch that was taken, or its first events if the others were not sent.
    ///   - outcomes: One for each event, in the order of the batch; those of an unfinished attempt are all
    ///     ``DeliveryOutcome/waiting``.
    /// - Returns: For each event, whether it was still queued: an operator may have dropped it.
    @discardableResult
    func settle(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt
    ) async throws(ConnectorError) -> OutboxStep

    /// Returns a connector's batch to the queue, for this or another host to deliver; no attempt is recorded.
    ///
    /// It awaits no answer: if a server cannot be reached, other hosts get the batch once its lease has lapsed.
    func release(_ path: String)

    /// Moves up the retries of a connector after the time of day was set back, so that none waits longer than it was to
    /// wait in the first place.
    func rewind(_ path: String, now: Timestamp) async throws(ConnectorError)

    /// Makes the retries of a connector due, however long they were to wait.
    func expediteRetries(of path: String, now: Timestamp) async throws(ConnectorError)

    /// Drops the oldest waiting events of a connector until their payloads free a number of bytes.
    ///
    /// - Returns: The ids of those that were dropped.
    func dropOldest(_ bytes: Int, of path: String) async throws(ConnectorError) -> [String]

    /// Counts events that found no room at a connector as dropped.
    ///
    /// - Returns: The revision of this step.
    func countDropped(_ count: Int, of path: String) async throws(ConnectorError) -> UInt64

    /// The statistics of every connector that has ever had an event.
    func read() async throws(ConnectorError) -> OutboxReading

    /// Those of some connectors for which the store can take events.
    func prepared(_ paths: Set<String>) async throws(ConnectorError) -> Set<String>

    /// Records of events, oldest first.
    func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord]

    /// Puts dead letters back in the queue.
    ///
    /// - Returns: How many.
    func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int

    /// Drops waiting events or dead letters for good.
    ///
    /// - Returns: How many.
    func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int

    /// Gives a connector another path, with everything that is stored for it, in one step. An engine that hosts share moves what no
    /// other host has taken to the queue of the other path, and may be asked again for the rest.
    ///
    /// - Returns: False, without a change, if the engine cannot do that, or the other path has or had events of its own.
    func reassign(_ path: String, to other: String) async throws(ConnectorError) -> Bool

    /// Stores the events of records for one more connector; they are, or were, stored for others.
    func store(_ records: [OutboxRecord], alsoFor path: String) async throws(ConnectorError)

    /// A number that changes when another process has changed the store.
    func version() async throws(ConnectorError) -> Int64

    /// Finishes the work in progress and releases the store. Nothing may be called afterwards.
    func close() async
}

extension OutboxEngine {
    /// False: right for engines that one host uses at a time.
    package var isShared: Bool { false }

    /// Does nothing: right for engines that one host uses at a time.
    package func release(_ path: String) {}

    /// Returns nil: right for engines that share their queues with other hosts.
    package func append(
        _ events: [OutboxEvent],
        to paths: [String],
        within bounds: [String: QueueBound],
        _ onStored: @escaping @Sendable (StoringOutcome) -> Void
    ) async throws(ConnectorError) -> StoringOutcome? { nil }

    /// Stores events, without a callback before it returns.
    package func append(_ events: [OutboxEvent], to paths: [String]) async throws(ConnectorError) -> OutboxStep {
        try await append(events, to: paths) { _ in }
    }

    /// Returns false: right for engines that move events only one by one.
    package func reassign(_ path: String, to other: String) async throws(ConnectorError) -> Bool { false }

    /// Appends them: right for engines that know for which connectors each event is stored.
    package func store(_ records: [OutboxRecord], alsoFor path: String) async throws(ConnectorError) {
        _ = try await append(records.map(\.event), to: [path])
    }

    /// Does nothing: right for engines that show it by opening.
    package func prove() async throws(ConnectorError) {}

    /// Returns all: right for engines that need nothing but the store itself.
    package func prepared(_ paths: Set<String>) async throws(ConnectorError) -> Set<String> { paths }

    /// Does nothing: right for engines that need nothing but the store itself.
    package func check(_ paths: [String]) async throws(ConnectorError) {}

    /// Does nothing: right for engines that keep the time themselves.
    package func rewind(_ path: String, now: Timestamp) async throws(ConnectorError) {}

    /// The statistics of every connector that has ever had an event.
    package func statistics() async throws(ConnectorError) -> [String: QueueStatistics] { try await read().statistics }
}

/// What one step did to the store.
package struct OutboxStep: Sendable, Hashable {
    /// The position of the step in the engine's history: a ``OutboxReading`` with a higher revision includes the step.
    package var revision: UInt64
    /// For each event, whether the step did anything to it.
    package var isApplied: [Bool]
    /// How many events of a batch were dropped during the attempt, but count as delivered, because the vendor has them.
    package var restored: Int

    /// Describes a step.
    package init(revision: UInt64, isApplied: [Bool], restored: Int = 0) {
        (self.revision, self.isApplied, self.restored) = (revision, isApplied, restored)
    }
}

/// What the store held at one moment.
package struct OutboxReading: Sendable {
    /// The position of the reading in the engine's history. On a shared server, the reading may include later steps, too.
    package var revision: UInt64
    /// The statistics of every connector that has ever had an event.
    package var statistics: [String: QueueStatistics]

    /// Describes what the store held.
    package init(revision: UInt64, statistics: [String: QueueStatistics]) {
        (self.revision, self.statistics) = (revision, statistics)
    }
}
