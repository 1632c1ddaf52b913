// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector

/// A copy of the receiver of a response in parts.
@safe package struct ResponseReceiver {
    /// Receives the parts.
    package let part: connector_http_part
    /// Receives the end.
    package let done: connector_http_done
    /// Called when the next part of the request's body can be written; nil if the plugin does not ask for that.
    package let room: connector_http_room?
    /// The argument of the functions.
    package let user: UnsafeMutableRawPointer?
    /// The longest silence of the server, in nanoseconds; 0 for no limit.
    package let silence: UInt64

    /// Copies a receiver from the plugin's memory.
    package init(copying pointer: UnsafePointer<connector_http_receiver>?) throws(ServiceFailure) {
        guard let pointer = unsafe pointer else { throw .misuse("the receiver is null") }
        // The field `room` came later: an older plugin's receiver ends before it.
        let size = unsafe Int(pointer.pointee.struct_size)
        guard let old = unsafe MemoryLayout<connector_http_receiver>.offset(of: \.room), size >= old else {
            throw .misuse("the receiver's struct_size is too small for version 1")
        }
        // C code may pass null despite the header.
        let functions = unsafe UnsafeRawPointer(pointer).loadUnaligned(
            fromByteOffset: 8,
            as: (connector_http_part?, connector_http_done?).self
        )
        guard let part = unsafe functions.0, let done = unsafe functions.1 else {
            throw .misuse("the receiver has a null function")
        }
        unsafe self.part = part
        unsafe self.done = done
        unsafe room = size >= MemoryLayout<connector_http_receiver>.size ? pointer.pointee.room : nil
        unsafe user = pointer.pointee.user
        silence = unsafe pointer.pointee.silence_ns
    }
}
