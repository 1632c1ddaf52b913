// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
public import ConnectorBase

extension Line {
    /// The bytes of a `string` result.
    public static func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

    /// The bytes of a `json` result.
    public static func encode(_ value: JSONValue) -> [UInt8] { value.utf8() }

    /// The bytes of a `bytes` result.
    public static func encode(_ value: [UInt8]) -> [UInt8] { value }

    /// Writes a scalar result or `out` parameter.
    ///
    /// - Throws: `misuse` if the host gave no place for the result.
    public static func write<Scalar: BitwiseCopyable>(_ value: Scalar, to pointer: UnsafeMutablePointer<Scalar>?) throws
    {
        guard let pointer = unsafe pointer else {
            throw PluginError(.misuse, "there is no place for a result", domain: "kit")
        }
        unsafe pointer.pointee = value
    }

    /// Transfers the bytes of a synchronous result, as `connector_bytes_owned`; the host releases them.
    ///
    /// - Throws: `misuse` if the host gave no place for the result.
    public static func write(_ value: [UInt8], to result: UnsafeMutableRawPointer?) throws {
        guard let result = unsafe result?.assumingMemoryBound(to: connector_bytes_owned.self),
            unsafe result.pointee.struct_size >= UInt32(MemoryLayout<connector_bytes_owned>.size)
        else {
            throw PluginError(.misuse, "there is no place for a result", domain: "kit")
        }
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, value.count))
        _ = unsafe copy.initialize(from: value)
        unsafe result.pointee.flags = 0
        unsafe result.pointee.data = UnsafePointer(copy.baseAddress)
        unsafe result.pointee.length = UInt64(value.count)
        unsafe result.pointee.context = UnsafeMutableRawPointer(copy.baseAddress)
        unsafe result.pointee.release = { context in unsafe context?.deallocate() }
    }

    /// Fills a caller's buffer: an `out bytes`, `out string` or `out json` parameter.
    ///
    /// - Throws: A ``PluginError`` of status `tooLarge` if the buffer is too small; the required length is set anyway.
    public static func write(
        _ value: [UInt8],
        to buffer: UnsafeMutableRawPointer?,
        capacity: UInt64,
        length: UnsafeMutablePointer<UInt64>?
    ) throws {
        guard let length = unsafe length else {
            throw PluginError(.misuse, "the length pointer is null", domain: "kit")
        }
        unsafe length.pointee = UInt64(value.count)
        guard UInt64(value.count) <= capacity else {
            throw PluginError(.tooLarge, "the result has \(value.count) bytes, the buffer \(capacity)")
        }
        guard !value.isEmpty else { return }
        guard let buffer = unsafe buffer else {
            throw PluginError(.misuse, "the buffer is null", domain: "kit")
        }
        unsafe value.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe buffer.copyMemory(from: start, byteCount: bytes.count)
        }
    }
}
