// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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

    private let limit: UInt64
    /// The watch of the store that the work belongs to; nil for none.
    private let parent: StatementWatch?
    private let now: @Sendable () -> UInt64
    /// The deadline of the current transaction.
    private let due = Atomic<UInt64>(.max)
    /// The deadline of all work, once the store closes.
    private let end = Atomic<UInt64>(.max)

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
    func begin() { due.store(now().saturatingAdding(limit), ordering: .relaxed) }

    /// Starts the grace period of all current and further work, because the store closes.
    func close() { end.store(now().saturatingAdding(Self.grace), ordering: .relaxed) }

    /// Whether SQLite must stop.
    var hasExpired: Bool { now() >= due.load(ordering: .relaxed) || hasClosed }

    /// Whether the store closes and the grace period has expired.
    var hasClosed: Bool { now() >= end.load(ordering: .relaxed) || parent?.hasClosed ?? false }
}
