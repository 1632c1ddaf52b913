// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase

/// The header fields of a request or of a response, on their way through a message.
package struct HeaderFields: Sendable {
    /// Names and values.
    package var fields: [(name: [UInt8], value: [UInt8])] = []

    /// The most fields of one message; the host's own limits are lower.
    private static let limit: UInt64 = 4096
    /// The longest name or value, in bytes.
    private static let textLimit: UInt64 = 16 << 20

    /// The fields of a request.
    package init(_ fields: HTTPFields) {
        self.fields = fields.map { (Array($0.name.utf8), Array($0.value.utf8)) }
    }

    /// The fields of a response.
    package var httpFields: HTTPFields {
        HTTPFields(
            fields.map { name, value in
                HTTPField(name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
            }
        )
    }

    /// Copies fields from a struct of the ABI; nil if a pointer is null where none may be, or if there are too many.
    package init?(_ start: UnsafePointer<connector_http_header>?, _ count: UInt64) {
        guard count <= Self.limit, unsafe count == 0 || start != nil else { return nil }
        for index in 0..<Int(count) {
            guard let header = unsafe start?[index] else { return nil }
            guard unsafe header.name_length <= Self.textLimit, unsafe header.value_length <= Self.textLimit else {
                return nil
            }
            // Read as raw pointers: a plugin may pass null where the header forbids it.
            guard let name = unsafe Self.bytes(header.name, header.name_length),
                let value = unsafe Self.bytes(header.value, header.value_length)
            else { return nil }
            fields.append((name, value))
        }
    }

    /// Reads fields.
    package init(_ message: inout MessageReader) throws(ConnectorError) {
        fields = try message.list(limit: Int(Self.limit)) { message throws(ConnectorError) in
            (name: try message.data(), value: try message.data())
        }
    }

    /// Writes the fields.
    package func put(to message: inout MessageWriter) {
        message.put(fields) { message, field in
            message.put(field.name)
            message.put(field.value)
        }
    }

    /// Lends the fields as an array of the ABI's structs.
    package func withHeaders<Result>(_ body: (UnsafePointer<connector_http_header>?, UInt64) -> Result) -> Result {
        var text: [CChar] = []
        for field in fields { text += (field.name + field.value).map { CChar(bitPattern: $0) } }
        text.append(0)
        return unsafe text.withUnsafeBufferPointer { text in
            guard var place = text.baseAddress else { return body(nil, 0) }
            let structs = unsafe fields.map { field in
                let name = unsafe place
                let value = unsafe name + field.name.count
                unsafe place = value + field.value.count
                return unsafe connector_http_header(
                    name: name,
                    name_length: UInt64(field.name.count),
                    value: value,
                    value_length: UInt64(field.value.count)
                )
            }
            return unsafe structs.withUnsafeBufferPointer { headers in
                unsafe body(headers.isEmpty ? nil : headers.baseAddress, UInt64(headers.count))
            }
        }
    }

    private static func bytes(_ start: UnsafePointer<CChar>?, _ count: UInt64) -> [UInt8]? {
        guard let start = unsafe start else { return count == 0 ? [] : nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: Int(count)))
    }
}
