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

    /// Sends a request, and returns the response, whatever its HTTP status, as soon as its header arrives. Its body follows in parts, as
    /// the server sends it.
    ///
    /// The operation's deadline does not limit it: the request lasts until its body ends, the stream is released, or a
    /// task that waits for it is cancelled. ``HTTPRequest/timeout`` limits the whole.
    ///
    /// The default implementation sends the whole body with ``send(_:)``, and returns the response's body as one part.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: A body that is sent in parts, in place of the request's own. A server may refuse the request before
    ///     the body ends; the rest is then not sent.
    ///   - silence: The longest wait for a part of the response; nil for no limit.
    /// - Throws: A ``PluginError`` if no response came, as for ``send(_:)``, or the error that `body` threw.
    func stream(_ request: HTTPRequest, body: HTTPUpload?, silence: Duration?) async throws(PluginError) -> HTTPStream
}

extension HTTPService {
    /// Sends a request, and receives the response in parts.
    public func stream(_ request: HTTPRequest, silence: Duration? = nil) async throws(PluginError) -> HTTPStream {
        try await stream(request, body: nil, silence: silence)
    }

    /// The default implementation, for services in tests.
    public func stream(
        _ request: HTTPRequest,
        body: HTTPUpload?,
        silence: Duration?
    ) async throws(PluginError) -> HTTPStream {
        var request = request
        while let part = try await body?.next() { request.body += part }
        return HTTPStream(try await send(request))
    }
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
