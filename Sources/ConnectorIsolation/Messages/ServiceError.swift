// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase

/// An error object of the ABI that travels as raw memory.
package enum ServiceError {
    /// Lends the body an empty error object.
    package static func with<Result>(_ body: (UnsafeMutablePointer<connector_error>) -> Result) -> Result {
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        return unsafe withUnsafeMutablePointer(to: &error) { unsafe body($0) }
    }

    /// Writes an error object.
    package static func put(_ error: UnsafePointer<connector_error>?, to message: inout MessageWriter) {
        guard let error = unsafe error else { return message.put(false) }
        var copy = unsafe error.pointee
        message.put(true)
        unsafe withUnsafeBytes(of: &copy) { unsafe message.put($0) }
    }

    /// Reads an error object; nil if there is none.
    package static func read(_ message: inout MessageReader) throws(ConnectorError) -> connector_error? {
        guard try message.bool() else { return nil }
        let bytes = try message.data()
        guard bytes.count == MemoryLayout<connector_error>.size else { throw MessageReader.malformed }
        var error = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: connector_error.self) }
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        return error
    }
}

extension MessageWriter {
    /// Writes the answer to a request of a plugin that waits for it.
    ///
    /// - Parameter error: What went wrong; ignored if the status is CONNECTOR_OK.
    init(answering token: UInt64, _ status: Int32, error: UnsafePointer<connector_error>? = nil, _ value: [UInt8] = [])
    {
        self.init()
        put(token)
        put(status)
        unsafe ServiceError.put(status == Int32(CONNECTOR_OK) ? nil : error, to: &self)
        put(value)
    }
}
