// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// A CRC-32 as RFC 1952 defines it: finds bytes that changed by accident, and no forgery. zlib computes over a gigabyte a second.
package struct Checksum: Sendable, Hashable {
    /// The checksum of everything that was added.
    package private(set) var value: UInt32 = 0

    /// Begins with nothing.
    package init() {}

    /// Adds bytes.
    @unsafe package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // zlib takes a null address as the request for its initial value.
        guard let start = bytes.baseAddress else { return }
        let first = unsafe start.assumingMemoryBound(to: UInt8.self)
        value = unsafe UInt32(truncatingIfNeeded: crc32_z(UInt(value), first, bytes.count))
    }
}
