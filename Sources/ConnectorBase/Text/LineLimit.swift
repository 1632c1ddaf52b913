// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Bounds the lines that one source, such as a plugin, adds to the log.
///
/// A source that writes without end would push everything else out of the log, and cost the host's processor, which no
/// bound of a runner limits.
package struct LineLimit: Sendable, CustomStringConvertible {
    /// How many lines of one second are admitted.
    package let lines: Int
    /// How many bytes these may have together.
    package let bytes: Int

    /// When the current second began, in monotonic time.
    private var start: UInt64 = 0
    /// What of that second was admitted.
    private var admitted = (lines: 0, bytes: 0)
    /// Whether a line of that second was left out.
    private var isFull = false
    /// How many lines were left out, and not reported yet.
    private var leftOut = 0

    private static let second: UInt64 = 1_000_000_000

    /// Of what a plugin prints in a runner, and of what it writes with `log/1`.
    package static let ofPlugin = LineLimit(lines: 1000, bytes: 256 << 10)
    /// Of the host's lines about a plugin that misbehaves.
    package static let ofMisbehaviour = LineLimit(lines: 20, bytes: .max)
    /// Admits every line.
    package static let unlimited = LineLimit(lines: .max, bytes: .max)

    /// Creates a limit that has admitted nothing.
    ///
    /// - Parameters:
    ///   - lines: How many lines of one second are admitted.
    ///   - bytes: How many bytes these may have together.
    package init(lines: Int, bytes: Int) {
        self.lines = lines
        self.bytes = bytes
    }

    /// For messages: `1000 lines and 262144 bytes a second`.
    package var description: String { "\(lines) lines and \(bytes) bytes a second" }

    /// Decides whether a line is written.
    ///
    /// After the first line of a second that has no room, none of that second is written, not even a shorter one: so at most
    /// one line of a second has lines to report that were left out.
    ///
    /// - Parameters:
    ///   - size: The length of the line, in bytes.
    ///   - now: The monotonic time, in nanoseconds.
    /// - Returns: How many lines were left out since the last one, to be reported before it; nil to leave out this one, too.
    package mutating func admit(_ size: Int, at now: UInt64) -> Int? {
        if now < start || now - start >= Self.second {
            (start, isFull) = (now, false)
            admitted = (0, 0)
        }
        isFull = isFull || admitted.lines >= lines || size > bytes - admitted.bytes
        guard !isFull else {
            leftOut += 1
            return nil
        }
        admitted.lines += 1
        admitted.bytes += size
        return takeLeftOut()
    }

    /// How many lines were left out since the last report, for a source that has ended.
    package mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}
