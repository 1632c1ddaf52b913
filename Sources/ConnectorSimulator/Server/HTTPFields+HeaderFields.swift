// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

extension HeaderFields {
    /// Copies the fields of a request head, and its authority as `Host`.
    init(_ head: HTTPRequest) {
        self.init()
        if let authority = head.authority { append("Host", authority) }
        for field in head.headerFields { append(field.name.rawName, field.value) }
    }
}

extension HTTPFields {
    /// Copies fields into an answer; a name that HTTP does not allow is left out.
    init(_ headers: HeaderFields) {
        self.init()
        for field in headers {
            guard let name = HTTPField.Name(field.name) else { continue }
            append(HTTPField(name: name, value: field.value))
        }
    }
}
