// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase

/// A copy of a plugin's request, with placeholders where its secrets will be.
package struct RequestTemplate: Sendable {
    /// The CONNECTOR_HTTP_ flags.
    package var flags: UInt32
    /// The method as written.
    package var method: String
    /// The URL as written, a template.
    package var url: String
    /// The headers as written, with templates as values.
    package var headers: HTTPFields
    /// The body: a template, unless the flags say that it is verbatim.
    package var body: [UInt8]
    /// Whether the body was compressed as it was copied.
    package private(set) var isCompressed = false
    /// The length of a body in parts, in bytes; nil if it is unknown.
    package var length: Int64? = nil
    /// The deadline, in nanoseconds on the monotonic clock; `.max` for none.
    package var deadline: UInt64
    /// The plugin's own call that this request serves; 0 for none.
    package var during: UInt64 = 0

    /// The maximum size of a URL, before and after its secrets are inserted, in bytes.
    package static let urlLimit = 8192
    /// The maximum size of all names and values of the headers, and of a request's whole head, in bytes.
    ///
    /// AsyncHTTPClient ends the process if a request's head fills the 64 KiB buffer of a connection and a body follows.
    package static let headLimit = 60 << 10
    /// The maximum number of headers.
    private static let headerCountLimit = 256

    /// Creates a request.
    package init(
        flags: UInt32,
        method: String,
        url: String,
        headers: HTTPFields,
        body: [UInt8],
        length: Int64? = nil,
        deadline: UInt64,
        during: UInt64 = 0
    ) {
        self.flags = flags
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.length = length
        self.deadline = deadline
        self.during = during
    }
}

extension RequestTemplate {
    /// Copies a request from the plugin's memory.
    ///
    /// - Parameters:
    ///   - limit: The maximum size of a body that comes whole, in bytes.
    ///   - compress: Compresses a body that is to be sent so, straight from the plugin's memory; returns nil to have it copied as it
    ///     is.
    package init(
        copying pointer: UnsafePointer<connector_http_request>?,
        limit: Int,
        compressing compress: (UnsafeBufferPointer<UInt8>) throws(ServiceFailure) -> [UInt8]? = { _ in nil }
    ) throws(ServiceFailure) {
        guard let pointer = unsafe pointer else { throw .misuse("the request is null") }
        // The field `during` came later: an older plugin's request ends before it, and must not be read as a whole.
        let size = unsafe Int(pointer.pointee.struct_size)
        guard let old = unsafe MemoryLayout<connector_http_request>.offset(of: \.during), size >= old else {
            throw .misuse("the request's struct_size is too small for version 1")
        }
        let (methodLength, urlLength) = unsafe (pointer.pointee.method_length, pointer.pointee.url_length)
        guard let method = unsafe PluginMemory.text(pointer.pointee.method, methodLength, limit: 32) else {
            throw .invalid("the method is null, not UTF-8 or longer than 32 bytes")
        }
        guard urlLength <= UInt64(Self.urlLimit) else {
            throw .tooLarge("the URL has more than \(Self.urlLimit) bytes; ask for fewer or shorter values at once")
        }
        guard let url = unsafe PluginMemory.text(pointer.pointee.url, urlLength, limit: Self.urlLimit) else {
            throw .invalid("the URL is null or not UTF-8")
        }
        let body = try unsafe Self.copyBody(of: pointer, limit: limit, compress)
        self.init(
            flags: unsafe pointer.pointee.flags,
            method: method,
            url: url,
            headers: try unsafe Self.copy(pointer.pointee.headers, pointer.pointee.header_count),
            body: body.bytes,
            length: body.length,
            deadline: unsafe pointer.pointee.deadline_ns,
            during: unsafe size >= MemoryLayout<connector_http_request>.size ? pointer.pointee.during : 0
        )
        isCompressed = body.isCompressed
    }

    /// Copies the body, or reads the length of one that comes in parts; nil if it is unknown.
    private static func copyBody(
        of request: UnsafePointer<connector_http_request>,
        limit: Int,
        _ compress: (UnsafeBufferPointer<UInt8>) throws(ServiceFailure) -> [UInt8]?
    ) throws(ServiceFailure) -> (bytes: [UInt8], length: Int64?, isCompressed: Bool) {
        let (length, flags) = unsafe (request.pointee.body_length, request.pointee.flags)
        if flags & CONNECTOR_HTTP_BODY_IN_PARTS != 0 {
            guard unsafe request.pointee.body == nil else {
                throw .misuse("the request has a body, and says that it comes in parts")
            }
            guard length == .max || length <= UInt64(Int64.max) else {
                throw .invalid("the length of the body is \(length)")
            }
            return ([], Int64(exactly: length), false)
        }
        guard length <= UInt64(limit) else { throw .tooLarge("the request's body has more than \(limit) bytes") }
        // Placeholders must be replaced before a body is compressed.
        let isFinal = flags & CONNECTOR_HTTP_VERBATIM_BODY != 0
        if isFinal, flags & CONNECTOR_HTTP_GZIP_BODY != 0, length > 0, let start = unsafe request.pointee.body {
            let lent = unsafe UnsafeBufferPointer(start: start, count: Int(length))
            if let packed = try unsafe compress(lent) { return (packed, nil, true) }
        }
        guard let body = unsafe PluginMemory.bytes(request.pointee.body, length, limit: limit) else {
            throw .misuse("the request's body is null with a length")
        }
        return (body, nil, false)
    }

    /// Copies a part of a body that comes in parts.
    package static func bodyPart(
        _ start: UnsafePointer<UInt8>?,
        _ length: UInt64
    ) throws(ServiceFailure) -> [UInt8] {
        let limit = Int(CONNECTOR_HTTP_PART_LIMIT)
        guard length <= UInt64(limit) else { throw .tooLarge("the part has more than \(limit) bytes") }
        guard let bytes = unsafe PluginMemory.bytes(start, length, limit: limit) else {
            throw .misuse("the part is null with a length")
        }
        return bytes
    }

    private static func copy(
        _ headers: UnsafePointer<connector_http_header>?,
        _ count: UInt64
    ) throws(ServiceFailure) -> HTTPFields {
        guard count > 0 else { return [:] }
        guard let headers = unsafe headers else { throw .misuse("the request's headers are null with a count") }
        guard count <= UInt64(headerCountLimit) else {
            throw .tooLarge("the request has more than \(headerCountLimit) headers")
        }
        var rest = headLimit
        var fields = HTTPFields()
        for index in 0..<Int(count) {
            let header = unsafe headers[index]
            guard let name = unsafe PluginMemory.text(header.name, header.name_length, limit: rest),
                let value = unsafe PluginMemory.text(header.value, header.value_length, limit: rest)
            else {
                throw .invalid("a header is null or not UTF-8, or they have more than \(headLimit) bytes")
            }
            rest = max(0, rest - name.utf8.count - value.utf8.count)
            fields.append(name, value)
        }
        return fields
    }
}
