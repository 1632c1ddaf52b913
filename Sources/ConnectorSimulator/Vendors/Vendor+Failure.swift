// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Vendor {
    /// The vendor's answer for an error, with defaults for code and message.
    func failure(status: Int, code: String? = nil, message: String? = nil) -> HTTPResponse {
        failure(status: Optional(status), code: code, message: message)
    }
}
