// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

extension HTTPResponse {
    /// Lends the response as the ABI's struct for the duration of a call.
    func withResponse(_ body: (UnsafePointer<connector_http_response>) -> Void) {
        // Keep all text in one buffer, so that every header is two ranges.
        var text: [UInt8] = []
        for field in headers {
            text += field.name.utf8
            text += field.value.utf8
        }
        // Add one byte, so that an empty buffer has an address too.
        text.append(0)
        unsafe text.withUnsafeBytes { text in
            guard let start = unsafe text.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            var offset = 0
            let structs = unsafe headers.fields.map { field in
                let name = unsafe start + offset
                let value = unsafe name + field.name.utf8.count
                offset += field.name.utf8.count + field.value.utf8.count
                return unsafe connector_http_header(
                    name: name,
                    name_length: UInt64(field.name.utf8.count),
                    value: value,
                    value_length: UInt64(field.value.utf8.count)
                )
            }
            unsafe structs.withUnsafeBufferPointer { headers in
                unsafe self.body.withUnsafeBufferPointer { bytes in
                    var response = unsafe connector_http_response(
                        struct_size: UInt32(MemoryLayout<connector_http_response>.size),
                        status: UInt32(clamping: status),
                        headers: headers.isEmpty ? nil : headers.baseAddress,
                        header_count: UInt64(headers.count),
                        body: bytes.isEmpty ? nil : bytes.baseAddress,
                        body_length: UInt64(bytes.count)
                    )
                    unsafe body(&response)
                }
            }
        }
    }
}
