// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// Interrupts SQLite when a transaction takes too long, or longer than a closing store may wait.
///
/// A file can hold pages that lead a statement in circles, so no statement runs without a limit.
final class StatementWatch: Sendable {
    /// The longest transaction, in nanoseconds: far longer than any of ours on a sound file.
    static let patience: UInt64 = 60_000_000_000
    /// How long work under way may go on once the store closes, in nanoseconds.
    static let grace: UInt64 = 5_000_000_000

    private let limit: UInt64
    /// The watch of the store that this work is part of; nil for none.
    private let parent: StatementWatch?
    private let now: @Sendable () -> UInt64
    /// When the transaction under way ends at the latest.
    private let due = Atomic<UInt64>(.max)
    /// When everything ends at the latest.
    private let end = Atomic<UInt64>(.max)

    /// Sets the longest transaction.
    ///
    /// - Parameters:
    ///   - limit: In nanoseconds.
    ///   - parent: The watch of a store; once that closes, this one bounds its work, too.
    ///   - now: The monotonic time in nanoseconds.
    init(
        limit: UInt64 = patience,
        within parent: StatementWatch? = nil,
        now: @escaping @Sendable () -> UInt64 = { SystemTime.monotonic() }
    ) {
        self.limit = limit
        self.parent = parent
        self.now = now
    }

    /// Starts the time of the next transaction.
    func begin() { due.store(now().saturatingAdding(limit), ordering: .relaxed) }

    /// Bounds all that is under way, and all that follows: the store closes.
    func close() { end.store(now().saturatingAdding(Self.grace), ordering: .relaxed) }

    /// Whether SQLite must stop.
    var isOver: Bool { now() >= due.load(ordering: .relaxed) || hasClosed }

    /// Whether the store closes and the grace is over.
    var hasClosed: Bool { now() >= end.load(ordering: .relaxed) || parent?.hasClosed ?? false }
}
