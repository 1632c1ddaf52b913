// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Memory that a host and its runner share: allocated and sealed, or of a size that can be set only once, so that neither side can make
/// the other's access fail.
///
/// The other side may write anything at any time, so whoever reads copies first, then checks, then uses the copy.
///
/// `@unchecked Sendable`: the address is constant and valid as long as the object; users of the memory behind it say how they share
/// it.
@safe
package final class SharedMemory: @unchecked Sendable {
    /// Where it begins in this process; page-aligned.
    package let address: UnsafeMutableRawPointer
    private let size: Int
    private let file: Atomic<Int32>

    /// Makes memory, filled with zeros; nil if there is no room, and then `errno` says of what.
    ///
    /// - Parameter size: The size in bytes.
    package init?(size: Int) {
        let descriptor = runner_memory(UInt64(size))
        guard descriptor >= 0 else {
            errno = -descriptor
            return nil
        }
        guard let address = unsafe runner_map(descriptor, UInt64(size)) else {
            close(descriptor)
            return nil
        }
        unsafe self.address = address
        self.size = size
        file = Atomic(descriptor)
    }

    /// Maps memory that the other side has made; nil if it has another size, or is not sealed.
    package init?(_ descriptor: consuming OwnedDescriptor, size: Int) {
        guard let address = unsafe runner_map(descriptor.number, UInt64(size)) else { return nil }
        unsafe self.address = address
        self.size = size
        file = Atomic(-1)
    }

    deinit {
        unsafe munmap(address, size)
        closeDescriptor()
    }

    /// The descriptor, for the other side; -1 once it is closed.
    package var descriptor: Int32 { file.load(ordering: .relaxed) }

    /// Closes the descriptor; the memory stays mapped.
    package func closeDescriptor() {
        let descriptor = file.exchange(-1, ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }
}
