// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// A request in the form that the host borrows: the structs point into one buffer.
struct HTTPRequestLayout {
    private var text: [CChar] = []
    private var fields: [(name: Range<Int>, value: Range<Int>)] = []
    private var method = 0..<0
    private var url = 0..<0
    private let body: [UInt8]
    private let length: UInt64
    private var flags: UInt32 = 0

    /// - Parameter upload: The body, if it comes in parts.
    init(_ request: HTTPRequest, upload: HTTPUpload? = nil) {
        body = upload == nil ? request.body : []
        length = upload.map { $0.length ?? .max } ?? UInt64(request.body.count)
        if upload != nil { flags |= CONNECTOR_HTTP_BODY_IN_PARTS }
        if !request.hasPlaceholdersInBody { flags |= CONNECTOR_HTTP_VERBATIM_BODY }
        if request.isCompressed, !body.isEmpty, upload == nil { flags |= CONNECTOR_HTTP_GZIP_BODY }
        // What answers the GET that a redirect makes of a write could pass for the answer to the write.
        if request.method != .get, request.method != .head { flags |= CONNECTOR_HTTP_KEEP_METHOD }
        if request.keepsOrigin { flags |= CONNECTOR_HTTP_KEEP_ORIGIN }
        method = append(request.method.rawValue)
        url = append(request.url.description)
        fields = request.headers.fields.map { (append($0.name), append($0.value)) }
    }

    /// Lends the request for the duration of a call.
    func withBorrowed(
        deadline: UInt64,
        _ body: (UnsafePointer<connector_http_request>) -> Int32
    ) -> Int32 {
        unsafe text.withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { return PluginStatus.invalid.rawValue }
            let headers = unsafe fields.map { field in
                unsafe connector_http_header(
                    name: start + field.name.lowerBound,
                    name_length: UInt64(field.name.count),
                    value: start + field.value.lowerBound,
                    value_length: UInt64(field.value.count)
                )
            }
            return unsafe headers.withUnsafeBufferPointer { headers in
                unsafe self.body.withUnsafeBufferPointer { bytes in
                    var request = unsafe connector_http_request(
                        struct_size: UInt32(MemoryLayout<connector_http_request>.size),
                        flags: flags,
                        method: start + method.lowerBound,
                        method_length: UInt64(method.count),
                        url: start + url.lowerBound,
                        url_length: UInt64(url.count),
                        headers: headers.baseAddress,
                        header_count: UInt64(headers.count),
                        body: bytes.isEmpty ? nil : bytes.baseAddress,
                        body_length: length,
                        deadline_ns: deadline,
                        during: 0
                    )
                    return unsafe body(&request)
                }
            }
        }
    }

    private mutating func append(_ value: String) -> Range<Int> {
        let start = text.count
        text.append(contentsOf: value.utf8.lazy.map { CChar(bitPattern: $0) })
        return start..<text.count
    }
}
