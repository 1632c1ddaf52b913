// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// HTTP requests to the hosts that the connector may reach (`http/1`). The host owns sockets, TLS, pools and limits.
public protocol HTTPService: Sendable {
    /// Sends a request, and returns the response, whatever its HTTP status.
    ///
    /// Cancelling the task cancels the request. The operation's deadline limits it too.
    ///
    /// - Throws: A ``PluginError`` if no response came: denied, unavailable, timed out, too large, cancelled, invalid.
    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse
}

/// The service of a plugin whose manifest does not name `http/1`.
public struct DeniedHTTP: HTTPService {
    /// Creates a service that refuses every request.
    public init() {}

    /// Always throws `denied`.
    public func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        throw PluginError(.denied, "the manifest does not name the service http/1, or the host does not have it")
    }
}
