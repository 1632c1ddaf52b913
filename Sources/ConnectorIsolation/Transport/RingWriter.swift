// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
package import ConnectorBase
internal import Synchronization

/// The writing end of a ring; see ``RingMemory`` for who stores what.
///
/// `@unchecked Sendable`: its owner's lock, or its owner's exclusive use, ensures that one thread at a time uses it.
package final class RingWriter: @unchecked Sendable {
    private let ring: RingMemory
    /// How many bytes were ever written; the copy in shared memory is for the reader only.
    private var written: UInt64 = 0
    /// How many bytes the reader had taken when that was last looked at: a position never goes back.
    private var seen: UInt64 = 0
    private var spin = RingSpin()

    /// Writes to an unused ring.
    package init(_ ring: RingMemory) {
        self.ring = ring
    }

    /// How many bytes the reader has not taken.
    ///
    /// - Throws: `protocol` if the reader claims to have taken what was never written, or less than before.
    private func pending() throws(ConnectorError) -> Int {
        let head = unsafe ring.head.pointee.load(ordering: .sequentiallyConsistent)
        let pending = written &- head
        guard pending <= UInt64(ring.capacity), pending <= written &- seen else { throw RingMemory.corrupt }
        seen = head
        return Int(pending)
    }

    /// Gives up what is written so far: the reader acts on no message of it that it has yet to take whole.
    package func withdraw() { unsafe ring.withdrawn.pointee.store(written, ordering: .sequentiallyConsistent) }

    /// Whether the reader may have taken the last message: not while the ring has all of it, or is full of a longer one.
    ///
    /// - Parameter count: The size of the message, in bytes.
    package func mayBeTaken(last count: Int) -> Bool {
        guard let pending = try? pending() else { return true }
        return pending < min(count, ring.capacity)
    }

    /// Writes as many bytes as there is room for, and wakes the reader; never waits.
    ///
    /// - Returns: How many; 0 if the ring is full.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(ConnectorError) -> Int {
        let count = min(bytes.count, ring.capacity - (try pending()))
        guard count > 0 else { return 0 }
        var rest = unsafe bytes.prefix(count)
        while unsafe !rest.isEmpty {
            let piece = unsafe rest.prefix(RingMemory.pieceCount(at: written))
            unsafe rest = rest.dropFirst(piece.count)
            unsafe ring.store(UnsafeRawBufferPointer(rebasing: piece), at: written)
            unsafe written &+= UInt64(piece.count)
            unsafe ring.tail.pointee.store(written, ordering: .sequentiallyConsistent)
        }
        unsafe RingMemory.wake(ring.readerSleeps)
        return count
    }

    /// Asks the reader to report as soon as it has made room.
    ///
    /// - Returns: Whether there is room already; the reader may then still report it.
    package func askForRoom() throws(ConnectorError) -> Bool {
        unsafe ring.writerSleeps.pointee.store(1, ordering: .sequentiallyConsistent)
        guard try pending() < ring.capacity else { return false }
        unsafe ring.writerSleeps.pointee.store(0, ordering: .sequentiallyConsistent)
        return true
    }

    /// Waits until there is room, or something else has woken the thread.
    ///
    /// - Parameter nanoseconds: The longest time to sleep; `UInt64.max` for no limit.
    package func waitForRoom(_ nanoseconds: UInt64 = .max) throws(ConnectorError) {
        let full = UInt64(ring.capacity)
        if spin.spin(until: { unsafe written &- ring.head.pointee.load(ordering: .relaxed) != full }) { return }
        if try askForRoom() { return }
        _ = unsafe runner_wait(ring.writerSleeps, 1, nanoseconds)
    }

    /// Writes all bytes, and waits for room as long as it takes.
    package func writeAll(_ bytes: UnsafeRawBufferPointer) throws(ConnectorError) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe try write(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            offset += count
            if count == 0 { try waitForRoom() }
        }
    }

    /// Wakes a thread of this process that waits for room, whose peer may be dead.
    package func wake() {
        unsafe ring.writerSleeps.pointee.store(0, ordering: .sequentiallyConsistent)
        _ = unsafe runner_wake(ring.writerSleeps)
    }
}
