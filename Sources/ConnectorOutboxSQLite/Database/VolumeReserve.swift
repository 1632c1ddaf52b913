// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorBase
internal import ConnectorPlatform

/// Reserves space on the volume for the writes that empty the outbox: recording deliveries, dropping events, and checkpointing the log.
///
/// Only new events are subject to it. Recording and deleting first make the log longer, up to its checkpoint, and then take no more space,
/// since the log begins again in the same file; the checkpoint makes the file as long as the tables are. A volume that new events could
/// fill to the last page would never be emptied.
struct VolumeReserve: Sendable {
    /// The file, beside which the log is.
    let path: String
    /// Returns the space of the volume; nil if it is not known.
    let space: @Sendable () -> VolumeSpace?
    /// How far the log grows before its checkpoint, in bytes. New events leave four times that: for the longest transactions, too.
    let share: Int64
    /// Returns the monotonic time, in nanoseconds.
    private let now: @Sendable () -> UInt64

    /// The pages of a log that SQLite checkpoints by default.
    private static let usualPages: Int64 = 1000

    /// How long a measurement of a volume with plenty of space holds, in nanoseconds.
    private static let lifetime: UInt64 = 50_000_000

    /// Looks at the volume of a file. A small one gets a shorter log.
    init(
        _ path: String,
        _ space: @escaping @Sendable () -> VolumeSpace?,
        now: @escaping @Sendable () -> UInt64 = SystemTime.monotonic
    ) {
        self.path = path
        self.space = space
        self.now = now
        share = min(8 << 20, max(64 << 10, (space()?.size ?? .max) / 16))
    }

    /// The checkpoint threshold, in pages of the given size.
    func checkpointPages(of size: Int64) -> Int64 { min(Self.usualPages, max(32, share / max(1, size))) }

    /// The space that new events may take: those of a transaction, or of several while it holds.
    struct Allowance {
        /// When it was measured, in monotonic time.
        var time: UInt64
        /// The free bytes of the volume.
        var free: Int64
        /// The bytes by which a checkpoint makes the file longer.
        var growth: Int64
        /// The bytes of the file's free pages.
        var spare: Int64
        /// The length of the log's file, which is written over after a checkpoint.
        var log: Int64
        /// The bytes that have been taken.
        var taken: Int64 = 0
    }

    /// Measures the allowance; nil if the volume is not known.
    ///
    /// - Parameters:
    ///   - size: The bytes of the tables, with what is only in the log.
    ///   - spare: The bytes of the free pages among them.
    func allowance(size: Int64, spare: Int64) -> Allowance? {
        guard let space = space() else { return nil }
        return Allowance(
            time: now(),
            free: space.free,
            growth: max(0, size - length("")),
            spare: spare,
            log: length("-wal")
        )
    }

    /// Whether an allowance is still good for another transaction, so that not each one has to ask the system: where 2 GiB are
    /// free on a volume of usual size, nothing fills them that fast.
    func holds(_ allowance: Allowance) -> Bool {
        allowance.free > 256 * share && allowance.taken < share && now() - allowance.time < Self.lifetime
    }

    /// Takes space for new events.
    ///
    /// - Throws: `SQLITE_FULL` if recording and deleting need the rest.
    func take(_ bytes: Int64, of allowance: inout Allowance) throws(Database.Failure) {
        allowance.taken += bytes
        let spare = max(0, allowance.spare - allowance.taken)
        // Free pages take in what recording adds to the tables, so an outbox that was emptied takes events again.
        let rest = 4 * share - allowance.log - min(spare, share / 2)
        guard allowance.free < allowance.growth + max(0, allowance.taken - allowance.spare) + max(allowance.taken, rest)
        else { return }
        throw Database.Failure(
            code: SQLITE_FULL,
            description: "the disk is full, except for what it takes to deliver the stored events",
            advice:
                "free space on the disk of \(path), or let events be delivered; connector-host outbox drop makes room, too"
        )
    }

    /// Whether new events will soon be refused.
    func isShort(_ allowance: Allowance) -> Bool {
        allowance.free + allowance.spare + allowance.log < allowance.growth + 6 * share
    }

    /// The length of the file, or of the one beside it with a suffix; 0 if there is none.
    private func length(_ suffix: String) -> Int64 { UntimedStatus(path + suffix)?.size ?? 0 }
}
