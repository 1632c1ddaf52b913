// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector

/// Bytes that the host allocates and the plugin releases.
package enum OwnedBytes {
    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { memory in
        unsafe memory?.deallocate()
    }

    /// Fills in a result; the plugin calls its `release` when it no longer needs it.
    package static func fill(_ result: UnsafeMutablePointer<connector_bytes_owned>, with bytes: [UInt8]) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        unsafe memory.copyBytes(from: bytes)
        unsafe result.pointee.flags = 0
        unsafe result.pointee.data = memory.baseAddress.map {
            unsafe UnsafePointer($0.assumingMemoryBound(to: UInt8.self))
        }
        unsafe result.pointee.length = UInt64(bytes.count)
        unsafe result.pointee.context = memory.baseAddress
        unsafe result.pointee.release = release
    }
}
