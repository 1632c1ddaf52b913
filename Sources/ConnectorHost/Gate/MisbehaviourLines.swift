// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Bounds the log lines about a gate whose plugin misbehaves without end: a thread that does so thousands of times a second would
/// otherwise push everything else out of the log.
struct MisbehaviourLines: Sendable {
    /// How many lines there are in a second at most.
    static let limit = 20
    private static let second: UInt64 = 1_000_000_000

    private var start: UInt64 = 0
    private var count = 0
    private var leftOut = 0

    /// Decides whether a line is written.
    ///
    /// - Parameter now: The monotonic time, in nanoseconds.
    /// - Returns: How many lines were left out since the last one; nil to leave out this one, too.
    mutating func admit(at now: UInt64) -> Int? {
        if count == 0 || now < start || now - start >= Self.second { (start, count) = (now, 0) }
        guard count < Self.limit else {
            leftOut += 1
            return nil
        }
        count += 1
        defer { leftOut = 0 }
        return leftOut
    }
}
