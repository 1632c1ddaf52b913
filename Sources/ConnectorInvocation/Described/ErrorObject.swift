// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import CConnector
public import ConnectorBase

/// The `connector_error` of one call, on the stack.
///
/// Only its fields' first bytes are cleared before the call: clearing the whole kilobyte would take longer than a call.
@usableFromInline
package enum ErrorObject {
    /// Lends the body an empty error object.
    @inlinable
    @inline(__always)
    package static func with(_ body: (UnsafeMutablePointer<connector_error>) -> Void) {
        unsafe withUnsafeTemporaryAllocation(of: connector_error.self, capacity: 1) { buffer in
            guard let error = buffer.baseAddress else { return }
            let bytes = UnsafeMutableRawPointer(error)
            unsafe bytes.storeBytes(of: UInt32(MemoryLayout<connector_error>.size), as: UInt32.self)
            // Code, retryable, detail, retry_after_ns, then the first byte of domain and message.
            unsafe bytes.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
            unsafe bytes.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
            unsafe bytes.storeBytes(of: 0, toByteOffset: 16, as: UInt64.self)
            unsafe bytes.storeBytes(of: 0, toByteOffset: 24, as: UInt8.self)
            unsafe bytes.storeBytes(of: 0, toByteOffset: 56, as: UInt8.self)
            unsafe body(error)
        }
    }

    /// An empty error object, cleared as a whole, for a caller to whom that is nothing.
    package static var empty: connector_error {
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        return error
    }

    /// Reads a failure reported by a function.
    @usableFromInline
    @inline(never)
    package static func read(
        _ error: UnsafePointer<connector_error>,
        _ status: Int32,
        _ name: String
    ) -> Failure {
        if status == ForwardedErrors.status, let forwarded = unsafe ForwardedErrors.take(for: error) {
            return Failure(forwarded)
        }
        return Failure(unsafe ConnectorError(status: status, error: error.pointee, attempting: name))
    }

    /// An error behind a reference, so that successful calls only pass around a null pointer.
    @usableFromInline
    package final class Failure {
        @usableFromInline package let error: ConnectorError

        package init(_ error: ConnectorError) {
            self.error = error
        }
    }
}
