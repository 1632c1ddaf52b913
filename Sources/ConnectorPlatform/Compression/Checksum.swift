// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// The CRC-32 of RFC 1952: detects accidental changes, not forgery. zlib computes over a gigabyte a second.
package struct Checksum: Sendable, Hashable {
    /// The checksum of everything that was added.
    package private(set) var value: UInt32 = 0

    /// Creates the checksum of no bytes.
    package init() {}

    /// Adds bytes.
    @unsafe package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // For a null address, zlib returns its initial value instead.
        guard let start = bytes.baseAddress else { return }
        let first = unsafe start.assumingMemoryBound(to: UInt8.self)
        value = unsafe UInt32(truncatingIfNeeded: crc32_z(UInt(value), first, bytes.count))
    }
}
