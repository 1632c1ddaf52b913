// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorHTTPServer
package import ConnectorHost

/// What a host answers over HTTP: the same documents that the commands print with `--json`.
///
/// It does no networking of its own: a server hands it requests. Whether a request may act is the server's to decide, by
/// ``endpoint(for:)`` and its ``ControlEndpoint/right``.
package struct ControlAPI: Sendable {
    /// The version in the paths.
    package static let version = 1
    /// The most bytes of a body.
    package static let bodyLimit = 1 << 20
    /// Everything that it does.
    package let endpoints: [ControlEndpoint]
    /// The endpoints whose paths have no segments in braces.
    private let places: [String: [Int]]
    /// The others.
    private let patterns: [Int]

    /// Makes the API of a host, which it reads at every request.
    package init(_ host: ConnectorHost) {
        var endpoints = Self.health(of: host) + Self.documents(of: host) + Self.acts(on: host) + Self.outbox(of: host)
        // The description is one of the endpoints that it describes.
        let described = endpoints + [Self.description { .null }]
        let document = Self.document(of: described)
        endpoints.append(Self.description { document })
        self.endpoints = endpoints
        var places: [String: [Int]] = [:]
        for (index, endpoint) in endpoints.enumerated() where endpoint.segments.isEmpty {
            places[endpoint.path, default: []].append(index)
        }
        self.places = places
        patterns = endpoints.indices.filter { !endpoints[$0].segments.isEmpty }
    }

    /// The endpoint that answers a request; nil if none does.
    package func endpoint(for request: ServerRequest) -> ControlEndpoint? {
        guard let found = try? find(request.path) else { return nil }
        return found.first { $0.endpoint.takes(request.method) }?.endpoint
    }

    /// Answers a request without a body.
    package func respond(_ method: String, _ target: String) async -> ControlResponse {
        await respond(ServerRequest(method, target))
    }

    /// Answers a request. The task that asks may be cancelled, which cancels what it asked for.
    package func respond(_ request: ServerRequest) async -> ControlResponse {
        let path = request.path
        let found: [(endpoint: ControlEndpoint, segments: JSONObject)]
        do throws(ConnectorError) {
            found = try find(path)
        } catch {
            return ControlResponse(error, status: 400)
        }
        guard !found.isEmpty else {
            let error = ConnectorError(
                .missing,
                "there is no \(path.prefix(200))",
                fix: suggestion(for: String(path.prefix(200)), among: endpoints.map(\.path))
            )
            return ControlResponse(error, status: 404)
        }
        guard let (endpoint, segments) = found.first(where: { $0.endpoint.takes(request.method) }) else {
            return refusal(of: request, found.map(\.endpoint))
        }
        if endpoint.body != nil {
            guard request.mediaType == ControlResponse.json else {
                let error = ConnectorError(
                    .unsupported,
                    "\(path) takes a body of the type \(ControlResponse.json)",
                    fix: "send the header Content-Type: \(ControlResponse.json)"
                )
                return ControlResponse(error, status: 415)
            }
        }
        let input: ControlInput
        do throws(ConnectorError) {
            input = try endpoint.input(request, segments)
        } catch {
            return ControlResponse(error, status: 400)
        }
        do throws(ConnectorError) {
            return try await endpoint.respond(input)
        } catch {
            return ControlResponse(error)
        }
    }

    private func find(
        _ path: Substring
    ) throws(ConnectorError) -> [(endpoint: ControlEndpoint, segments: JSONObject)] {
        if let exact = places[String(path)] { return exact.map { (endpoints[$0], [:]) } }
        var found: [(endpoint: ControlEndpoint, segments: JSONObject)] = []
        for index in patterns {
            if let segments = try endpoints[index].match(path) { found.append((endpoints[index], segments)) }
        }
        return found
    }

    /// The answer to a method that a path does not take; to OPTIONS, what it takes.
    private func refusal(of request: ServerRequest, _ found: [ControlEndpoint]) -> ControlResponse {
        let methods = found.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] } + ["OPTIONS"]
        var response: ControlResponse
        if request.method == "OPTIONS" {
            response = ControlResponse(text: "", status: 204)
        } else {
            let error = ConnectorError(
                .unsupported,
                "\(request.path) takes \(methods.joined(separator: ", ")), not \(request.method.prefix(20))"
            )
            response = ControlResponse(error, status: 405)
        }
        response.allow = methods.joined(separator: ", ")
        return response
    }
}

extension ControlEndpoint {
    /// Whether it answers a method.
    fileprivate func takes(_ method: String) -> Bool {
        method == self.method.rawValue || (method == "HEAD" && self.method == .get)
    }
}
