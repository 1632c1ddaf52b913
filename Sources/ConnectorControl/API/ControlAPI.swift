// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorHost
internal import ConnectorManifest

/// What a host that runs tells to those who may enter its state directory, over HTTP.
package struct ControlAPI: Sendable {
    /// The version in the paths.
    package static let version = 1
    /// Everything that it does.
    package let endpoints: [ControlEndpoint]
    private let places: [String: Int]

    /// Makes the API of a host, which it reads at every request.
    package init(_ host: ConnectorHost) {
        var endpoints = Self.health(of: host) + Self.documents(of: host)
        // The description is one of the endpoints that it describes.
        let described = endpoints + [Self.description { .null }]
        let document = Self.document(of: described)
        endpoints.append(Self.description { document })
        self.endpoints = endpoints
        places = Dictionary(zip(endpoints.map(\.path), endpoints.indices), uniquingKeysWith: { first, _ in first })
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - target: The path, and perhaps a query, which no endpoint reads.
    package func respond(_ method: String, _ target: String) async -> ControlResponse {
        let path = target.prefix { $0 != "?" }
        guard let place = places[String(path)] else {
            let error = ConnectorError(
                .missing,
                "there is no \(path.prefix(200))",
                fix: suggestion(for: String(path.prefix(200)), among: endpoints.map(\.path))
            )
            return ControlResponse(error, status: 404)
        }
        guard ["GET", "HEAD"].contains(method) else {
            let error = ConnectorError(.unsupported, "\(path) takes GET and HEAD, not \(method.prefix(20))")
            var response = ControlResponse(error, status: 405)
            response.allow = "GET, HEAD"
            return response
        }
        return await endpoints[place].respond()
    }

    // MARK: Endpoints

    private static func health(of host: ConnectorHost) -> [ControlEndpoint] {
        let text: JSONValue = ["type": "string"]
        func answer(_ status: Int, _ meaning: String, _ type: String = ControlResponse.text) -> ControlEndpoint.Answer {
            ControlEndpoint.Answer(status: status, meaning: meaning, contentType: type, schema: text)
        }
        return [
            ControlEndpoint(
                operation: "isAlive",
                path: "/livez",
                summary: "Tells that the process answers.",
                answers: [answer(200, "It does.")]
            ) { ControlResponse(text: "ok\n") },
            ControlEndpoint(
                operation: "isReady",
                path: "/readyz",
                summary: "Tells whether every required connector can be counted on.",
                answers: [answer(200, "Every one can."), answer(503, "At least one cannot; a line for each.")]
            ) {
                let missing = host.report.gates.filter { $0.isRequired && !$0.isReady }
                guard !missing.isEmpty else { return ControlResponse(text: "ok\n") }
                let lines = missing.map { "\($0.path): \($0.state.rawValue)\n" }
                return ControlResponse(text: lines.joined(), status: 503)
            },
            ControlEndpoint(
                operation: "metrics",
                path: "/metrics",
                summary: "The metrics of the host, for Prometheus.",
                answers: [answer(200, "The text format of Prometheus.", PrometheusText.contentType)]
            ) { ControlResponse(text: host.prometheusText, contentType: PrometheusText.contentType) },
        ]
    }

    private static func documents(of host: ConnectorHost) -> [ControlEndpoint] {
        func answer(_ meaning: String, _ schema: JSONValue) -> ControlEndpoint.Answer {
            ControlEndpoint.Answer(status: 200, meaning: meaning, contentType: ControlResponse.json, schema: schema)
        }
        return [
            ControlEndpoint(
                operation: "host",
                path: "/api/v1/host",
                summary: "Tells which host answers.",
                answers: [answer("The host.", ControlSchemas.host)]
            ) { ControlResponse(HostIdentity(of: host).json) },
            ControlEndpoint(
                operation: "status",
                path: "/api/v1/status",
                summary: "The report: the document of `connector-host status --json`.",
                answers: [answer("The report.", ControlSchemas.status)]
            ) { ControlResponse(host.report.json) },
            ControlEndpoint(
                operation: "operations",
                path: "/api/v1/operations",
                summary: "The operations of every leaf: the document of `connector-host operations --json`.",
                answers: [answer("The operations.", ControlSchemas.operations)]
            ) { ControlResponse(host.operations.json) },
        ]
    }

    private static func description(_ document: @escaping @Sendable () -> JSONValue) -> ControlEndpoint {
        let answer = ControlEndpoint.Answer(
            status: 200,
            meaning: "The description.",
            contentType: ControlResponse.json,
            schema: ["type": "object", "required": ["openapi", "paths"]]
        )
        return ControlEndpoint(
            operation: "description",
            path: "/api/v1/openapi.json",
            summary: "This description.",
            answers: [answer]
        ) { ControlResponse(document()) }
    }
}
