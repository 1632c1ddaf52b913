// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// What a host and its runner share from the beginning: how many messages the runner has taken, the note that it leaves if it
/// crashes, and a ring for each direction.
@safe
package final class SharedPage: Sendable {
    /// The place of the note, after the counter.
    private static let noteOffset = 4096
    /// The bytes that a ring holds; longer messages pass through it in pieces.
    package static let ringCapacity = 256 << 10
    private static let ringsOffset = noteOffset + CrashNote.sizeLimit
    private static var size: Int { ringsOffset + 2 * RingMemory.size(capacity: ringCapacity) }

    private let memory: SharedMemory

    /// Makes the memory; nil if there is no room, and then `errno` says of what.
    package init?() {
        guard let memory = SharedMemory(size: Self.size) else { return nil }
        self.memory = memory
    }

    /// Maps memory that the other side has made; nil if it has another size, or is not sealed.
    package init?(_ descriptor: consuming OwnedDescriptor) {
        guard let memory = SharedMemory(descriptor, size: Self.size) else { return nil }
        self.memory = memory
    }

    /// The descriptor, for the other side; -1 once it is closed.
    package var descriptor: Int32 { memory.descriptor }

    /// Closes the descriptor, which the other side has; the memory stays mapped.
    package func closeDescriptor() { memory.closeDescriptor() }

    /// The ring of the host's messages.
    package var toRunner: RingMemory { RingMemory(memory, at: Self.ringsOffset, capacity: Self.ringCapacity) }

    /// The ring of the runner's messages.
    package var toHost: RingMemory {
        RingMemory(
            memory,
            at: Self.ringsOffset + RingMemory.size(capacity: Self.ringCapacity),
            capacity: Self.ringCapacity
        )
    }

    private var counter: UnsafePointer<Atomic<UInt64>> {
        unsafe UnsafePointer(memory.address.assumingMemoryBound(to: Atomic<UInt64>.self))
    }

    /// How many messages the runner has taken.
    package var taken: UInt64 { unsafe counter.pointee.load(ordering: .acquiring) }

    /// Counts one more message that the runner has taken.
    package func take() { unsafe counter.pointee.wrappingAdd(1, ordering: .releasing) }

    /// Where the runner's note goes.
    package var note: UnsafeMutablePointer<CChar> {
        unsafe (memory.address + Self.noteOffset).assumingMemoryBound(to: CChar.self)
    }

    /// A copy of the runner's note; empty if it has left none.
    package var noteText: [UInt8] {
        let start = unsafe memory.address + Self.noteOffset
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: CrashNote.sizeLimit))
        return Array(bytes.prefix { $0 != 0 })
    }
}
