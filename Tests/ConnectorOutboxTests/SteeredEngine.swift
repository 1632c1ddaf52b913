// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Synchronization

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// An engine that leaves the bounds to the outbox, and stores and fails as the test says.
final class SteeredEngine: OutboxEngine {
    let inner: SQLiteEngine
    /// Nothing is stored until this is sent.
    let mayStore = OneShot<Void>()
    /// Whether callers wait, once their events are stored, for ``mayReturn``.
    let holdsCallers = Atomic(false)
    let mayReturn = OneShot<Void>()
    /// Whether deliveries wait, once their attempts are recorded, for ``mayReturn``.
    let holdsDeliveries = Atomic(false)
    /// How many callers have been held.
    let held = Atomic(0)
    /// How many calls have begun to store.
    let storing = Atomic(0)
    /// How many readings of the statistics fail.
    let failing = Atomic(0)
    /// How many readings of records fail.
    let unreadable = Atomic(0)
    /// How many readings of records have ended.
    let recordReadings = Atomic(0)
    /// How many attempts to record a delivery fail.
    let unsettled = Atomic(0)
    let isShared: Bool
    var stability: String { inner.stability }

    init(_ inner: SQLiteEngine, isShared: Bool = false) { (self.inner, self.isShared) = (inner, isShared) }

    static func inMemory(isShared: Bool = false) async throws(ConnectorError) -> SteeredEngine {
        SteeredEngine(try await SQLiteEngine(now: { OutboxEvent.start }), isShared: isShared)
    }

    func append(
        _ events: [OutboxEvent],
        to paths: [String],
        _ onStored: @escaping @Sendable (OutboxStep) -> Void
    ) async throws(ConnectorError) -> OutboxStep {
        storing.add(1, ordering: .relaxed)
        await mayStore.wait()
        let step = try await inner.append(events, to: paths, onStored)
        await hold(holdsCallers)
        return step
    }

    private func hold(_ isWanted: borrowing Atomic<Bool>) async {
        guard isWanted.load(ordering: .relaxed) else { return }
        held.add(1, ordering: .relaxed)
        await mayReturn.wait()
    }

    func batch(
        for path: String,
        upTo limits: BatchLimits,
        now: Timestamp
    ) async throws(ConnectorError) -> OutboxBatch {
        try await inner.batch(for: path, upTo: limits, now: now)
    }

    func settle(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt
    ) async throws(ConnectorError) -> OutboxStep {
        try fail(unsettled)
        let step = try await inner.settle(batch, outcomes, attempt)
        await hold(holdsDeliveries)
        return step
    }

    func expediteRetries(of path: String, now: Timestamp) async throws(ConnectorError) {
        try await inner.expediteRetries(of: path, now: now)
    }

    func dropOldest(_ bytes: Int, of path: String) async throws(ConnectorError) -> [String] {
        try await inner.dropOldest(bytes, of: path)
    }

    func countDropped(_ count: Int, of path: String) async throws(ConnectorError) -> UInt64 {
        try await inner.countDropped(count, of: path)
    }

    func read() async throws(ConnectorError) -> OutboxReading {
        try fail(failing)
        return try await inner.read()
    }

    func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        try fail(unreadable)
        defer { recordReadings.add(1, ordering: .relaxed) }
        return try await inner.records(selection)
    }

    /// Fails if there are failures left, and counts one of them down.
    private func fail(_ left: borrowing Atomic<Int>) throws(ConnectorError) {
        guard left.load(ordering: .relaxed) > 0 else { return }
        left.subtract(1, ordering: .relaxed)
        throw ConnectorError(.storage, "the disk fails", cause: "sector 7")
    }

    func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await inner.replay(selection)
    }

    func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int { try await inner.drop(selection) }

    func version() async throws(ConnectorError) -> Int64 { try await inner.version() }

    func close() async { await inner.close() }
}
