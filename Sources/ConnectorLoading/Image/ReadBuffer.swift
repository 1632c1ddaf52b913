// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Reusable memory for the first part of a file.
///
/// Allocating memory for every file costs as much as reading the file, because the system maps and clears each page.
package enum ReadBuffer {
    /// The size of each buffer, in bytes.
    package static let size = 32 << 10
    /// The number of buffers kept; a thread uses one or two at a time.
    private static let limit = 16

    /// Addresses of free buffers.
    private static let free = Mutex<[UInt]>([])

    /// Takes a buffer with undefined contents, which the caller owns until ``give(_:)``.
    package static func take() -> UnsafeMutableRawPointer {
        let address = free.withLock { $0.popLast() }
        return unsafe address.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }
            ?? UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    }

    /// Returns a buffer. The caller must not use it afterwards.
    package static func give(_ buffer: UnsafeMutableRawPointer) {
        let address = UInt(bitPattern: buffer)
        let isKept = free.withLock { free in
            guard free.count < limit else { return false }
            free.append(address)
            return true
        }
        if !isKept { unsafe buffer.deallocate() }
    }
}
