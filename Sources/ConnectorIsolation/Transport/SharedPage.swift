// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Memory that a host and its runner share: how many messages the runner has taken, and the note that it leaves if it crashes.
///
/// The memory is allocated and sealed, so that neither side can make the other's access fail. The runner may write anything
/// at any time: the host copies first, and then reads.
///
/// `@unchecked Sendable`: the address is constant, and what is behind it is atomic, or copied.
@safe
package final class SharedPage: @unchecked Sendable {
    /// The place of the note, after the counter.
    private static let noteOffset = 4096
    /// The size of the note.
    private static let noteSize = 32768
    private static let size = UInt64(noteOffset + noteSize)

    private let address: UnsafeMutableRawPointer
    /// The descriptor, for the other side.
    package let descriptor: Int32

    /// Makes the memory; nil if there is no room.
    package init?() {
        let descriptor = runner_memory(Self.size)
        guard descriptor >= 0 else { return nil }
        guard let address = unsafe runner_map(descriptor, Self.size) else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        unsafe self.address = address
    }

    /// Maps memory that the other side has made; nil if it is not what it must be.
    package init?(_ descriptor: consuming OwnedDescriptor) {
        guard let address = unsafe runner_map(descriptor.number, Self.size) else { return nil }
        self.descriptor = descriptor.take()
        unsafe self.address = address
    }

    deinit {
        unsafe munmap(address, Int(Self.size))
        close(descriptor)
    }

    private var counter: UnsafePointer<Atomic<UInt64>> {
        unsafe UnsafePointer(address.assumingMemoryBound(to: Atomic<UInt64>.self))
    }

    /// How many messages the runner has taken.
    package var taken: UInt64 { unsafe counter.pointee.load(ordering: .acquiring) }

    /// The runner has taken one more message.
    package func take() { unsafe counter.pointee.wrappingAdd(1, ordering: .releasing) }

    /// Where the runner's note goes.
    package var note: UnsafeMutablePointer<CChar> {
        unsafe (address + Self.noteOffset).assumingMemoryBound(to: CChar.self)
    }

    /// A copy of the runner's note; empty if it has left none.
    package var noteText: [UInt8] {
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: address + Self.noteOffset, count: Self.noteSize))
        return Array(bytes.prefix { $0 != 0 })
    }
}
