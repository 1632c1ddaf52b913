// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import HTTPTypes

extension ConnectorManifest.HTTPFields {
    /// Copies the fields of a request head, and its authority as `Host`.
    init(_ head: HTTPRequest) {
        self.init()
        if let authority = head.authority { append("Host", authority) }
        for field in head.headerFields { append(field.name.rawName, field.value) }
    }
}

extension HTTPTypes.HTTPFields {
    /// Copies fields into an answer; a name that HTTP does not allow is left out.
    init(_ headers: ConnectorManifest.HTTPFields) {
        self.init()
        for field in headers {
            guard let name = HTTPTypes.HTTPField.Name(field.name) else { continue }
            append(HTTPTypes.HTTPField(name: name, value: field.value))
        }
    }
}
