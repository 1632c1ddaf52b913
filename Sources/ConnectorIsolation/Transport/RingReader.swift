// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
package import ConnectorBase
internal import Synchronization

/// The reading end of a ring; see ``RingMemory`` for who stores what.
///
/// `@unchecked Sendable`: one thread at a time reads, which its owner ensures; ``wake()`` touches only atomic words.
package final class RingReader: @unchecked Sendable {
    private let ring: RingMemory
    /// How many bytes were ever read; the copy in shared memory is for the writer only.
    private var taken: UInt64 = 0
    /// How many bytes the writer had written when that was last looked at: a position never goes back.
    private var seen: UInt64 = 0
    private var spin = RingSpin()
    /// Notifies the writer of room, if it does not sleep on its futex.
    private let onRoom: (@Sendable () -> Void)?

    /// Reads an unused ring.
    ///
    /// - Parameter onRoom: Tells a writer that has asked that there is room; nil if the writer sleeps on its futex.
    package init(_ ring: RingMemory, onRoom: (@Sendable () -> Void)? = nil) {
        self.ring = ring
        self.onRoom = onRoom
    }

    /// How many bytes can be read.
    ///
    /// - Throws: `protocol` if the writer claims to have written more than fits, or less than before.
    private func available() throws(ConnectorError) -> Int {
        let tail = unsafe ring.tail.pointee.load(ordering: .sequentiallyConsistent)
        let available = tail &- taken
        guard available <= UInt64(ring.capacity), available >= seen &- taken else { throw RingMemory.corrupt }
        seen = tail
        return Int(available)
    }

    /// The position of the next byte to read.
    var position: UInt64 { taken }

    /// Whether the writer has given up what it wrote at a position, which has been read.
    func isWithdrawn(at position: UInt64) -> Bool {
        unsafe ring.withdrawn.pointee.load(ordering: .sequentiallyConsistent) > position
    }

    /// Whether there is nothing to read.
    var isEmpty: Bool { unsafe ring.tail.pointee.load(ordering: .relaxed) == taken }

    /// Copies the bytes that have arrived, and notifies a writer that waits for room; never waits.
    ///
    /// - Returns: How many; 0 if the ring is empty.
    package func read(into bytes: UnsafeMutableRawBufferPointer) throws(ConnectorError) -> Int {
        let count = min(bytes.count, try available())
        guard count > 0 else { return 0 }
        var rest = unsafe bytes.prefix(count)
        while unsafe !rest.isEmpty {
            let piece = unsafe rest.prefix(RingMemory.pieceCount(at: taken))
            unsafe rest = rest.dropFirst(piece.count)
            unsafe ring.load(into: UnsafeMutableRawBufferPointer(rebasing: piece), at: taken)
            unsafe taken &+= UInt64(piece.count)
            unsafe ring.head.pointee.store(taken, ordering: .sequentiallyConsistent)
        }
        if let onRoom {
            if unsafe RingMemory.take(ring.writerSleeps) { onRoom() }
        } else {
            unsafe RingMemory.wake(ring.writerSleeps)
        }
        return count
    }

    /// Waits until there are bytes, or something else has woken the thread.
    ///
    /// - Parameters:
    ///   - nanoseconds: The longest time to sleep; `UInt64.max` for no limit.
    ///   - isOver: Whether nothing more will be written. Whoever makes it true calls ``wake()`` afterwards.
    package func wait(_ nanoseconds: UInt64 = .max, unless isOver: () -> Bool = { false }) throws(ConnectorError) {
        if spin.spin(until: { !isEmpty }) { return }
        unsafe ring.readerSleeps.pointee.store(1, ordering: .sequentiallyConsistent)
        if try available() == 0, !isOver() { _ = unsafe runner_wait(ring.readerSleeps, 1, nanoseconds) }
        unsafe ring.readerSleeps.pointee.store(0, ordering: .sequentiallyConsistent)
    }

    /// Wakes a waiting thread of this process, whose peer may be dead. A living peer may set the mark again, so call this until the
    /// thread has responded.
    package func wake() {
        unsafe ring.readerSleeps.pointee.store(0, ordering: .sequentiallyConsistent)
        _ = unsafe runner_wake(ring.readerSleeps)
    }
}
