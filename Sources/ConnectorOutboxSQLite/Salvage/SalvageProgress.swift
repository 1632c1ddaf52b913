// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Tells at intervals how many rows a salvage has read, since that of a large file takes minutes.
final class SalvageProgress {
    private let interval: UInt64
    private let now: () -> UInt64
    private let tell: (_ rows: Int) -> Void
    private var rows = 0
    /// When to tell next.
    private var due: UInt64

    /// The default interval, in nanoseconds.
    private static let defaultInterval: UInt64 = 5_000_000_000

    /// Begins the first interval.
    ///
    /// - Parameters:
    ///   - interval: The time between two calls, in nanoseconds.
    ///   - now: Returns the monotonic time in nanoseconds.
    ///   - tell: Receives the number of rows so far.
    init(
        interval: UInt64 = defaultInterval,
        now: @escaping () -> UInt64 = { SystemTime.monotonic() },
        tell: @escaping (_ rows: Int) -> Void
    ) {
        (self.interval, self.now, self.tell) = (interval, now, tell)
        due = now() + interval
    }

    /// Counts a row.
    func noteRow() {
        rows += 1
        look()
    }

    /// Tells if it is time: also while no row is found.
    func look() {
        let time = now()
        guard time >= due else { return }
        due = time + interval
        tell(rows)
    }
}
