// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

/// A lane as its host sees it: a thread of the runner that answers one call after another, while the caller's thread waits.
///
/// `@unchecked Sendable`: one caller at a time has it, which ``CallLanes`` ensures; ``end()`` touches only what is safe on any
/// thread.
package final class CallLane: @unchecked Sendable {
    /// The messages of both sides.
    package var stream: LaneStream
    private let reader: RingReader
    private let writer: RingWriter
    private let interruption = LaneInterruption()
    private let timer: LaneTimer

    /// How many bytes each of the two rings holds; longer messages pass through in pieces.
    package static let capacity = 64 << 10
    /// The size of the memory that a lane takes, in bytes.
    package static let size = 2 * RingMemory.size(capacity: capacity)

    /// The rings in a lane's memory: of calls, and of answers.
    package static func rings(in memory: SharedMemory) -> (calls: RingMemory, answers: RingMemory) {
        let answers = RingMemory.size(capacity: capacity)
        return (
            RingMemory(memory, at: 0, capacity: capacity), RingMemory(memory, at: answers, capacity: capacity)
        )
    }

    /// Creates the host's end.
    ///
    /// - Parameter patience: How long a call may take, in nanoseconds.
    package init(_ memory: SharedMemory, _ clock: any HostClock, patience: UInt64) {
        let rings = Self.rings(in: memory)
        let reader = RingReader(rings.answers), writer = RingWriter(rings.calls)
        let timer = LaneTimer(clock, patience: patience, interruption, reader)
        (self.reader, self.writer, self.timer) = (reader, writer, timer)
        stream = LaneStream(reader, writer, interruption) { timer.start() }
    }

    /// How long a call may take, in nanoseconds.
    package var patience: UInt64 {
        get { timer.patience }
        set { timer.patience = newValue }
    }

    /// Gives up the calls that the runner has yet to take: it will not make them.
    package func withdraw() { writer.withdraw() }

    /// Whether the runner may have taken the last call, and made it.
    ///
    /// - Parameter count: The size of the call, in bytes.
    package func mayBeTaken(last count: Int) -> Bool { writer.mayBeTaken(last: count) }

    /// Ends a call: the next one has a time limit of its own.
    package func callEnds() {
        timer.end()
        stream.callEnds()
    }

    /// Ends the lane, because no more answers will come, and wakes the waiting caller. The runner may have passed the memory on to
    /// other processes, which may set the sleeper's mark again, so call this until the caller has left.
    package func end() {
        interruption.set(.over)
        reader.wake()
        writer.wake()
    }
}
