// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// Where an outbox keeps its events.
///
/// An engine stores each event once, however many connectors it goes to, and knows of each connector how far it has
/// come. It neither delivers nor waits: ``Delivery`` asks for batches, and tells what became of them.
///
/// Every function may be called from any task. A `ConnectorError` of code `storage` says that the engine could not do
/// it, and that nothing has changed; of servers that do not answer, nobody knows, and the same call may be made again.
package protocol OutboxEngine: Sendable {
    /// What it takes to lose an event that ``append(_:to:)`` has stored, in one sentence for the report.
    var stability: String { get }

    /// Stores events for connectors in one step, and returns once they are stable.
    ///
    /// An event whose id is stored already is stored for those connectors alone that it was not stored for before.
    ///
    /// - Returns: For each event, whether it is new.
    func append(_ events: [OutboxEvent], to targets: [String]) async throws(ConnectorError) -> OutboxStep

    /// The next events of a connector, oldest first: those whose next attempt is due, or else new ones.
    ///
    /// All events of a batch have the same capability. The batch is empty if nothing is due. Until it is settled, the caller
    /// gets the same events again; an engine that hosts share gives them to no other host meanwhile.
    func batch(for target: String, upTo limits: BatchLimits, now: Timestamp) async throws(ConnectorError) -> OutboxBatch

    /// Records an attempt to deliver a batch, and what became of each of its events.
    ///
    /// - Parameter fates: One for each event, in the order of the batch; those of an unfinished attempt are all
    ///   ``Fate/waiting``.
    /// - Returns: For each event, whether it still waited: an operator may have dropped it meanwhile.
    @discardableResult
    func settle(
        _ batch: OutboxBatch,
        _ fates: [Fate],
        _ attempt: Attempt
    ) async throws(ConnectorError) -> OutboxStep

    /// Makes no retry of a connector wait longer than it was to wait in the first place: the time of day was set back.
    func rewind(_ target: String, now: Timestamp) async throws(ConnectorError)

    /// Drops the oldest waiting events of a connector until their payloads free a number of bytes.
    ///
    /// - Returns: How many were dropped.
    func dropOldest(_ bytes: Int, of target: String) async throws(ConnectorError) -> Int

    /// Counts events of a connector as dropped that found no room.
    ///
    /// - Returns: The number of this step.
    func countDropped(_ count: Int, of target: String) async throws(ConnectorError) -> UInt64

    /// How every connector stands that has ever had an event.
    func read() async throws(ConnectorError) -> OutboxReading

    /// What is known of events, oldest first.
    func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord]

    /// Puts dead letters back in the queue.
    ///
    /// - Returns: How many.
    func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int

    /// Drops waiting events or dead letters for good.
    ///
    /// - Returns: How many.
    func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int

    /// A number that changes when another process has changed the store.
    func version() async throws(ConnectorError) -> Int64

    /// Finishes what has begun, and releases the store. Nothing may be called afterwards.
    func close() async
}

extension OutboxEngine {
    /// Does nothing: right for engines that keep the time themselves.
    package func rewind(_ target: String, now: Timestamp) async throws(ConnectorError) {}

    /// How every connector stands that has ever had an event.
    package func standings() async throws(ConnectorError) -> [String: Standing] { try await read().standings }
}

/// What one step did to the store.
package struct OutboxStep: Sendable, Hashable {
    /// The number of the step among all of this engine: a ``OutboxReading`` of a higher one holds what it did.
    package var turn: UInt64
    /// For each event, whether the step did anything to it.
    package var isApplied: [Bool]
}

/// What the store held at one moment.
package struct OutboxReading: Sendable {
    /// The number of the reading among the steps of this engine. Servers that are shared may hold later ones, too.
    package var turn: UInt64
    /// How every connector stands that has ever had an event.
    package var standings: [String: Standing]
}
