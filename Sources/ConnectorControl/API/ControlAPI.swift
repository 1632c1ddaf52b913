// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHTTPServer
package import ConnectorHost

/// The HTTP API of a host, which returns the same documents that the commands print with `--json`.
///
/// It does no networking: a server passes requests to it. The server also authorizes them, by the ``ControlEndpoint/permission`` of
/// their ``endpoint(for:)``.
package struct ControlAPI: Sendable {
    /// The maximum size of a request's body, in bytes.
    package static let bodyLimit = 1 << 20
    /// The error for a larger body.
    package static var bodyTooLarge: ConnectorError {
        ConnectorError(
            .tooLarge,
            "the body is larger than \(bodyLimit >> 10) KiB",
            fix: "send less at once; an application puts a file of any size with FilesClient"
        )
    }
    /// All endpoints.
    package let endpoints: [ControlEndpoint]
    /// The indices of the endpoints whose paths have no segments in braces, by path.
    private let exactPaths: [String: [Int]]
    /// The indices of the other endpoints.
    private let patterns: [Int]
    /// Whether it is served on the socket in the state directory, and not at the address of a console.
    let isLocal: Bool
    private let acts: ControlActs

    /// Creates the API of a host. Every request reads the current state of the host.
    ///
    /// - Parameters:
    ///   - isLocal: Whether all clients are users of this machine who could start the host themselves. Only they may name a file
    ///     whose code the host then runs.
    ///   - acts: The requests in progress that act on the host, if its owner is to end them.
    ///   - plugins: Searches the plugin directories, and may block; by default those of the host's configuration.
    package init(
        _ host: ConnectorHost,
        isLocal: Bool = false,
        acts: ControlActs = ControlActs(),
        plugins: (@Sendable () -> PluginListing)? = nil
    ) {
        let search: @Sendable () -> PluginListing =
            plugins ?? {
                let lookup = PluginLookup(configuration: host.configuration, options: ConnectorHost.Options())
                return PluginListing(lookup.everything, admission: lookup.admission)
            }
        var endpoints = Self.health(of: host) + Self.documents(of: host, plugins: search) + Self.acts(on: host)
        endpoints += Self.outbox(of: host) + Self.reloading(host) + (isLocal ? Self.swapping(host) : [])
        // The description is one of the endpoints that it describes.
        let described = endpoints + [Self.description { .null }]
        endpoints.append(Self.description { Self.document(of: described, isLocal: isLocal) })
        self.endpoints = endpoints
        self.isLocal = isLocal
        self.acts = acts
        var exactPaths: [String: [Int]] = [:]
        for (index, endpoint) in endpoints.enumerated() where endpoint.segments.isEmpty {
            exactPaths[endpoint.path, default: []].append(index)
        }
        self.exactPaths = exactPaths
        patterns = endpoints.indices.filter { !endpoints[$0].segments.isEmpty }
    }

    /// The endpoint for a request; nil if there is none.
    package func endpoint(for request: ServerRequest) -> ControlEndpoint? {
        guard let found = try? find(request.path) else { return nil }
        return found.first { $0.endpoint.takes(request.method) }?.endpoint
    }

    /// Responds to a request without a body.
    package func respond(_ method: String, _ target: String) async -> ServerResponse {
        await respond(ServerRequest(method, target))
    }

    /// The error for a path that the API does not have. A client recognizes by it a host of another release, so its code and its
    /// message stay the same.
    package static func absence(of path: some StringProtocol) -> ConnectorError {
        ConnectorError(.missing, "there is no path \(path.prefix(200))")
    }

    /// Responds to a request. Cancelling the task cancels the call or the change that the request started.
    package func respond(_ request: ServerRequest) async -> ServerResponse {
        let path = request.path
        let found: [(endpoint: ControlEndpoint, segments: JSONObject)]
        do throws(ConnectorError) {
            found = try find(path)
        } catch {
            return ServerResponse(error, status: 400)
        }
        guard !found.isEmpty else {
            var error = Self.absence(of: path)
            error.fix = suggestion(for: String(path.prefix(200)), among: endpoints.map(\.path))
            return ServerResponse(error, status: 404)
        }
        guard let (endpoint, segments) = found.first(where: { $0.endpoint.takes(request.method) }) else {
            return refusal(of: request, found.map(\.endpoint))
        }
        if endpoint.body != nil, let refusal = refusal(ofBody: request) { return refusal }
        let input: ControlInput
        do throws(ConnectorError) {
            input = try endpoint.input(request, segments)
        } catch {
            return ServerResponse(error, status: 400)
        }
        do throws(ConnectorError) {
            guard endpoint.method == .post else { return try await endpoint.respond(input) }
            return try await acts.respond { () async throws(ConnectorError) in try await endpoint.respond(input) }
        } catch {
            return ServerResponse(error)
        }
    }

    /// The response to a request with a body that the API does not read; nil if it reads it.
    private func refusal(ofBody request: ServerRequest) -> ServerResponse? {
        guard request.mediaType == ServerResponse.json else {
            let error = ConnectorError(
                .unsupported,
                "\(request.path) requires a body of the type \(ServerResponse.json)",
                fix: "send the header Content-Type: \(ServerResponse.json)"
            )
            return ServerResponse(error, status: 415)
        }
        guard let coding = request.fields["Content-Encoding"], !coding.isEqual(asciiIgnoringCase: "identity") else {
            return nil
        }
        let error = ConnectorError(
            .unsupported,
            "\(request.path) takes no body with the content coding \"\(coding.excerpt)\"",
            fix: "send the body as it is, without the header Content-Encoding"
        )
        var response = ServerResponse(error, status: 415)
        response.fields.append("Accept-Encoding", "identity")
        return response
    }

    private func find(
        _ path: Substring
    ) throws(ConnectorError) -> [(endpoint: ControlEndpoint, segments: JSONObject)] {
        if let exact = exactPaths[String(path)] { return exact.map { (endpoints[$0], [:]) } }
        var found: [(endpoint: ControlEndpoint, segments: JSONObject)] = []
        for index in patterns {
            if let segments = try endpoints[index].match(path) { found.append((endpoints[index], segments)) }
        }
        return found
    }

    /// The response to a method that a path does not support; for OPTIONS, the supported methods.
    private func refusal(of request: ServerRequest, _ found: [ControlEndpoint]) -> ServerResponse {
        let methods = found.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] } + ["OPTIONS"]
        var response: ServerResponse
        if request.method == "OPTIONS" {
            response = ServerResponse(status: 204)
        } else {
            let error = ConnectorError(
                .unsupported,
                "\(request.path) supports \(methods.joined(separator: ", ")), not \(request.method.prefix(20))"
            )
            response = ServerResponse(error, status: 405)
        }
        response.fields.append("Allow", methods.joined(separator: ", "))
        return response
    }
}

extension ControlEndpoint {
    /// Whether the endpoint supports a method.
    fileprivate func takes(_ method: String) -> Bool {
        method == self.method.rawValue || (method == "HEAD" && self.method == .get)
    }
}
