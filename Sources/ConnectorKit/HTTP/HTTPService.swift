// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// HTTP requests to the hosts that the connector may reach (`http/1`). The host owns sockets, TLS, pools and limits.
public protocol HTTPService: Sendable {
    /// Sends a request, and answers whatever HTTP status came back.
    ///
    /// Cancelling the task gives the request up. The deadline of the operation holds for it too.
    ///
    /// - Throws: A ``PluginError`` if no response came: denied, unavailable, timed out, too large, cancelled, invalid.
    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse
}

/// Stands in where the manifest does not name `http/1`.
public struct DeniedHTTP: HTTPService {
    /// Refuses everything.
    public init() {}

    /// Always throws.
    public func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        throw PluginError(.denied, "the manifest does not name the service http/1, or the host does not have it")
    }
}
