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

/// The most that one batch may hold.
package struct BatchLimits: Sendable, Hashable {
    /// The most events.
    package var count: Int
    /// The most bytes of payloads, with one for each separator. A single event may exceed it.
    package var bytes: Int

    /// Takes the limits.
    package init(count: Int = 500, bytes: Int = 500_000) {
        self.count = max(1, count)
        self.bytes = max(1, bytes)
    }
}

/// Some events of one connector, to be delivered together.
package struct OutboxBatch: Sendable {
    /// The connector.
    package var target: String
    /// The events, with the engine's own name for each.
    package var entries: [Entry]
    /// When the connector's next event is due, if none is now.
    package var nextDue: Timestamp?

    /// Whether there is nothing to deliver.
    package var isEmpty: Bool { entries.isEmpty }

    /// One event.
    package struct Entry: Sendable {
        /// The engine's name for it.
        package var position: Int64
        /// How many attempts it has had on its own.
        package var attempts: Int
        /// The event.
        package var event: OutboxEvent
        /// When the event was put back in the queue, which makes it young again; nil if it never was.
        package var renewedAt: Timestamp?
    }
}

/// What becomes of an event after an attempt.
package enum Fate: Sendable, Hashable {
    /// It stays where it is, and comes again with the next batch.
    case waiting
    /// The vendor has it.
    case delivered
    /// It is tried again at that time, and others overtake it.
    case retry(at: Timestamp)
    /// It is a dead letter: the vendor refuses it for good, or it is too old.
    case dead
    /// It was given up to make room.
    case dropped
}

/// One attempt to deliver a batch.
package struct Attempt: Sendable, Hashable {
    /// When it began.
    package var at: Timestamp
    /// For each event, why it was not delivered; nil if it was.
    package var failures: [DeliveryFailure?]

    /// Takes its parts.
    package init(at: Timestamp, failures: [DeliveryFailure?]) {
        self.at = at
        self.failures = failures
    }
}

/// Why a vendor did not take an event.
package struct DeliveryFailure: Sendable, Hashable {
    /// The kind.
    package var code: ConnectorError.Code
    /// The vendor's words, or ours.
    package var reason: String

    /// Takes its parts.
    package init(_ code: ConnectorError.Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}

/// How the outbox of one connector stands.
package struct Standing: Sendable, Hashable {
    /// How many events wait, those tried before included.
    package var queued = 0
    /// How many bytes the payloads of the waiting events have.
    package var bytes = 0
    /// When the oldest waiting event was sent.
    package var oldest: Timestamp?
    /// How many dead letters there are.
    package var dead = 0
    /// How many events the vendor has taken since the outbox was made.
    package var delivered = 0
    /// How many events were given up to make room.
    package var dropped = 0
    /// When the vendor last took an event.
    package var lastDelivered: Timestamp?

    /// Begins with nothing.
    package init() {}
}

/// Which events an operator means.
package struct RecordSelection: Sendable, Hashable {
    /// The connectors; nil for all.
    package var targets: Set<String>?
    /// The ids; nil for all.
    package var ids: Set<String>?
    /// In which state; nil for any.
    package var states: Set<OutboxRecord.State>?
    /// The most records.
    package var limit: Int

    /// Takes its parts.
    package init(
        targets: Set<String>? = nil,
        ids: Set<String>? = nil,
        states: Set<OutboxRecord.State>? = nil,
        limit: Int = .max
    ) {
        self.targets = targets
        self.ids = ids
        self.states = states
        self.limit = limit
    }
}

/// What is known of one event at one connector.
package struct OutboxRecord: Sendable {
    /// The connector.
    package var target: String
    /// The event.
    package var event: OutboxEvent
    /// How it stands.
    package var state: State
    /// When it is tried again, for one that is retried on its own.
    package var due: Timestamp?
    /// Every attempt, oldest first; attempts that failed alike and one after another are counted together.
    package var attempts: [PastAttempt]

    /// How an event stands.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// It waits for its turn, or for its next attempt.
        case queued
        /// The vendor has it. Engines remember the last ones only.
        case delivered
        /// The vendor refuses it for good, or it was too old.
        case dead
    }
}

/// One or several equal attempts, one after the other.
package struct PastAttempt: Sendable, Hashable {
    /// When the first of them began.
    package var at: Timestamp
    /// When the last of them began.
    package var until: Timestamp
    /// How many they were.
    package var count: Int
    /// Why they failed; nil for the one that succeeded.
    package var failure: DeliveryFailure?
}
