// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

extension Line {
    /// Fills in a caller's `connector_error`, and returns the status.
    static func write(_ failure: PluginError, into error: UnsafeMutableRawPointer?) -> Int32 {
        let status = failure.status.rawValue == Line.ok ? PluginStatus.failed.rawValue : failure.status.rawValue
        guard let error = unsafe error?.assumingMemoryBound(to: connector_error.self),
            unsafe error.pointee.struct_size >= UInt32(MemoryLayout<connector_error>.size)
        else { return status }
        unsafe error.pointee.code = status
        unsafe error.pointee.retryable = failure.isRetryable ? 1 : 0
        unsafe error.pointee.detail = failure.detail
        unsafe error.pointee.retry_after_ns = failure.retryAfter?.nanoseconds ?? 0
        unsafe withUnsafeMutableBytes(of: &error.pointee.domain) { unsafe copy(failure.domain, into: $0) }
        unsafe withUnsafeMutableBytes(of: &error.pointee.message) { unsafe copy(failure.message, into: $0) }
        return status
    }

    /// An empty error for a function of the host to fill in.
    static var emptyError: connector_error {
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        return error
    }

    /// The error that a function of the host returned.
    ///
    /// - Parameter error: Null, or not filled in, if the host returned only the status.
    static func failure(_ status: Int32, _ error: UnsafePointer<connector_error>?) -> PluginError {
        let kind = PluginStatus(rawValue: status)
        guard let error = unsafe error else { return PluginError(kind, "the host answered with status \(status)") }
        let message = unsafe withUnsafeBytes(of: error.pointee.message) { unsafe text($0) }
        let retryAfter = unsafe error.pointee.retry_after_ns
        return unsafe PluginError(
            kind,
            message.isEmpty ? "the host answered with status \(status)" : message,
            isRetryable: error.pointee.code == 0 ? nil : error.pointee.retryable != 0,
            retryAfter: retryAfter == 0 ? nil : .nanoseconds(Int64(clamping: retryAfter)),
            domain: withUnsafeBytes(of: error.pointee.domain) { unsafe text($0) },
            detail: error.pointee.detail
        )
    }

    /// Copies as many whole Unicode scalars as fit, and a NUL after them.
    private static func copy(_ text: String, into bytes: UnsafeMutableRawBufferPointer) {
        var count = 0
        for scalar in text.unicodeScalars {
            let encoded = UTF8.encode(scalar == "\0" ? " " : scalar) ?? UTF8.encodedReplacementCharacter
            guard count + encoded.count < bytes.count else { break }
            for byte in encoded {
                unsafe bytes[count] = byte
                count += 1
            }
        }
        unsafe bytes[count] = 0
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
