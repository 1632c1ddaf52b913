// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension Line {
    /// Copies a `string` argument.
    ///
    /// - Throws: A ``PluginError`` that names the argument if it is null or not UTF-8.
    public static func string(_ data: UnsafePointer<CChar>?, _ length: UInt64, _ name: String) throws -> String {
        guard let text = try unsafe optionalString(data, length, name) else { throw missing(name) }
        return text
    }

    /// Copies a `string?` argument; null is nil.
    public static func optionalString(
        _ data: UnsafePointer<CChar>?,
        _ length: UInt64,
        _ name: String
    ) throws -> String? {
        guard let bytes = try unsafe buffer(data, length, name) else { return nil }
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw PluginError(.invalid, "\(name) is not UTF-8")
        }
        return text
    }

    /// Parses a `json` argument.
    ///
    /// - Throws: A ``PluginError`` that names the argument and the position if it is null, not JSON, or nested too deeply.
    public static func json(_ data: UnsafePointer<CChar>?, _ length: UInt64, _ name: String) throws -> JSONValue {
        guard let value = try unsafe optionalJSON(data, length, name) else { throw missing(name) }
        return value
    }

    /// Copies a `json` argument without parsing it.
    ///
    /// - Throws: A ``PluginError`` that names the argument if it is null.
    public static func text(_ data: UnsafePointer<CChar>?, _ length: UInt64, _ name: String) throws -> [UInt8] {
        guard let bytes = try unsafe buffer(data, length, name) else { throw missing(name) }
        return unsafe [UInt8](bytes)
    }

    /// Wraps a copied `json` argument for a method that takes it unparsed; preferred to the overload that parses.
    public static func argument(_ text: [UInt8], _ name: String) -> JSONText { JSONText(utf8: text) }

    /// Parses a copied `json` argument: a batch to deliver, whose events may be as deep as any value.
    ///
    /// - Throws: A ``PluginError`` that names the argument and the position if it is not JSON.
    @_disfavoredOverload
    public static func argument(_ text: [UInt8], _ name: String) throws -> JSONValue {
        try value(text, name, depthLimit: JSONParser.documentDepthLimit)
    }

    /// Parses a `json?` argument; a null pointer is nil, the text `null` is a value.
    public static func optionalJSON(
        _ data: UnsafePointer<CChar>?,
        _ length: UInt64,
        _ name: String
    ) throws -> JSONValue? {
        guard let bytes = try unsafe buffer(data, length, name) else { return nil }
        return try unsafe value([UInt8](bytes), name, depthLimit: JSONParser.depthLimit)
    }

    private static func value(_ text: [UInt8], _ name: String, depthLimit: Int) throws(PluginError) -> JSONValue {
        do throws(ConnectorError) {
            return try JSONValue(parsing: text, file: name, depthLimit: depthLimit)
        } catch {
            throw PluginError(error)
        }
    }

    /// Copies a `bytes` argument.
    ///
    /// - Throws: A ``PluginError`` that names the argument if it is null with a nonzero length.
    public static func bytes(_ data: UnsafePointer<UInt8>?, _ length: UInt64, _ name: String) throws -> [UInt8] {
        guard let bytes = try unsafe optionalBytes(data, length, name) else {
            if length == 0 { return [] }
            throw missing(name)
        }
        return bytes
    }

    /// Copies a `bytes?` argument; null is nil.
    public static func optionalBytes(
        _ data: UnsafePointer<UInt8>?,
        _ length: UInt64,
        _ name: String
    ) throws -> [UInt8]? {
        try unsafe buffer(data, length, name).map { unsafe [UInt8]($0) }
    }

    /// Reads an optional scalar through its pointer; null is nil.
    public static func optional<Scalar: BitwiseCopyable>(_ pointer: UnsafePointer<Scalar>?) -> Scalar? {
        unsafe pointer?.pointee
    }

    private static func buffer(
        _ data: UnsafeRawPointer?,
        _ length: UInt64,
        _ name: String
    ) throws(PluginError) -> UnsafeRawBufferPointer? {
        guard let data = unsafe data else { return nil }
        guard let count = Int(exactly: length) else {
            throw PluginError(.misuse, "the length of \(name) is \(length)", domain: "kit")
        }
        return unsafe UnsafeRawBufferPointer(start: data, count: count)
    }

    private static func missing(_ name: String) -> PluginError {
        PluginError(.invalid, "\(name) is missing")
    }
}
