// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// The errors of calls to instances elsewhere, on their way through the C function that forwarded them.
///
/// The ABI's error object has no code for a runner that crashed, and room for a short message only.
enum ForwardedErrors {
    /// The status of a function that has left its error here; not a status of the ABI.
    static let status = Int32.min

    private static let errors = Mutex<[UInt: ConnectorError]>([:])

    /// Leaves an error for the reader of an error object.
    ///
    /// - Returns: The status for the function to return.
    static func leave(_ error: ConnectorError, for object: UnsafeRawPointer?) -> Int32 {
        guard let object = unsafe object else { return error.code.status }
        errors.withLock { $0[UInt(bitPattern: object)] = error }
        return status
    }

    /// Takes the error that was left for an error object; nil if there is none.
    static func take(for object: UnsafeRawPointer) -> ConnectorError? {
        errors.withLock { $0.removeValue(forKey: UInt(bitPattern: object)) }
    }
}
