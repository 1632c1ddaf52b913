// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// Interrupts SQLite when a transaction exceeds its time limit, or the grace period of a closing store.
///
/// The pages of a damaged file can make a statement loop forever, so every statement has a limit. Safe to use from any thread.
final class StatementWatch: Sendable {
    /// The default limit of a transaction, in nanoseconds: far longer than any takes on an intact file.
    static let defaultLimit: UInt64 = 60_000_000_000
    /// How long running work may continue after the store starts closing, in nanoseconds.
    static let grace: UInt64 = 5_000_000_000
    /// The factor by which the limits grow for the copy of a whole file, whose data would be lost without it.
    static let copyFactor: UInt64 = 12

    private let limit: UInt64
    /// The watch of the store that the work belongs to; nil for none.
    private let parent: StatementWatch?
    private let now: @Sendable () -> UInt64
    /// The deadline of the current transaction.
    private let due = Atomic<UInt64>(.max)
    /// When the store began to close; `.max` before.
    private let closing = Atomic<UInt64>(.max)
    /// The factor by which the limits grow for the current work.
    private let factor = Atomic<UInt64>(1)

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - limit: The limit of a transaction, in nanoseconds.
    ///   - parent: The watch of a store, whose closing also bounds this work; nil for none.
    ///   - now: Returns the monotonic time in nanoseconds.
    init(
        limit: UInt64 = defaultLimit,
        within parent: StatementWatch? = nil,
        now: @escaping @Sendable () -> UInt64 = { SystemTime.monotonic() }
    ) {
        self.limit = limit
        self.parent = parent
        self.now = now
    }

    /// Starts the time limit of the next transaction.
    func begin() { begin(factor: 1) }

    /// Starts the time limit of a copy of the whole file.
    func beginCopy() { begin(factor: Self.copyFactor) }

    private func begin(factor: UInt64) {
        let (product, overflow) = limit.multipliedReportingOverflow(by: factor)
        self.factor.store(factor, ordering: .relaxed)
        due.store(now().saturatingAdding(overflow ? .max : product), ordering: .relaxed)
    }

    /// Starts the grace period of all current and further work, because the store closes.
    func close() { closing.store(now(), ordering: .relaxed) }

    /// Whether SQLite must stop.
    var hasExpired: Bool { now() >= due.load(ordering: .relaxed) || hasClosed }

    /// Whether the store closes and the grace period has expired.
    var hasClosed: Bool {
        let grace = Self.grace * factor.load(ordering: .relaxed)
        return now() >= closing.load(ordering: .relaxed).saturatingAdding(grace) || parent?.hasClosed ?? false
    }
}
