// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Limits of `http/1`, and what it says of itself.
package struct HTTPOptions: Sendable {
    /// How long a request may take that sets no deadline.
    package var timeout: Duration = .seconds(30)
    /// How long it may take to connect, TLS included.
    package var connectTimeout: Duration = .seconds(10)
    /// How many bytes the body of a response may have, before and after it is decompressed.
    package var responseLimit = 16 << 20
    /// How many bytes the body of a request may have.
    package var requestLimit = 64 << 20
    /// How many redirects are followed.
    package var redirectLimit = 5
    /// How many requests one gate may have under way.
    package var concurrencyLimit = 4096
    /// Sent unless the plugin sets its own.
    package var userAgent = "connector-host/\(ConnectorHost.version)"

    /// The limits above.
    package init() {}
}
