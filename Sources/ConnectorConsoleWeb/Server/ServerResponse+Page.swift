// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

extension ServerResponse {
    /// Creates a response with a page.
    init(_ page: Markup, status: Int = 200) {
        self.init(text: page.text, contentType: "text/html; charset=utf-8", status: status)
    }

    /// Redirects to another URL of this server, with a GET request.
    init(to url: String) {
        self.init(text: "", status: 303)
        fields.append("Location", url)
    }

    /// Creates a response with an asset.
    init(_ asset: [UInt8], contentType: String) {
        self.init(status: 200, ["Content-Type": contentType], .bytes(asset))
    }
}
