// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorHost
internal import ConnectorPlatform
internal import ConnectorServices

/// The endpoints that only read.
extension ControlAPI {
    /// The path of the one endpoint that a server which authorizes clients serves to everybody.
    package static let livenessPath = "/livez"

    /// Describes a response with a JSON document.
    static func answer(_ meaning: String, _ schema: JSONValue) -> ControlEndpoint.Answer {
        ControlEndpoint.Answer(status: 200, meaning: meaning, contentTypes: [ServerResponse.json], schema: schema)
    }

    /// The endpoints for orchestrators and Prometheus.
    static func health(of host: ConnectorHost) -> [ControlEndpoint] {
        let text: JSONValue = ["type": "string"]
        func answer(_ status: Int, _ meaning: String, _ type: String = ServerResponse.text) -> ControlEndpoint.Answer {
            ControlEndpoint.Answer(status: status, meaning: meaning, contentTypes: [type], schema: text)
        }
        return [
            ControlEndpoint(
                operation: "isAlive",
                path: livenessPath,
                summary: "Liveness: responds as long as the process does.",
                answers: [answer(200, "The process responds.")]
            ) { _ in ServerResponse(text: "ok\n") },
            ControlEndpoint(
                operation: "isReady",
                path: "/readyz",
                summary: "Readiness: whether the required connectors are ready, and events can be stored.",
                answers: [
                    answer(200, "They are, and they can."),
                    answer(503, "One line for each connector that is not ready, and one if events cannot be stored."),
                ]
            ) { _ in
                let report = host.report
                guard !report.isReady else { return ServerResponse(text: "ok\n") }
                let missing = report.gates.filter { $0.isRequired && !$0.isReady }
                var lines = missing.map { "\($0.path): \($0.state.rawValue)\n" }
                if let error = report.outboxError { lines.append("outbox: \(error)\n") }
                return ServerResponse(text: lines.joined(), status: 503)
            },
            ControlEndpoint(
                operation: "metrics",
                path: "/metrics",
                summary: "The metrics of the host, for Prometheus.",
                answers: [answer(200, "The text format of Prometheus.", PrometheusText.contentType)]
            ) { _ in ServerResponse(text: host.prometheusText, contentType: PrometheusText.contentType) },
        ]
    }

    /// The endpoints that return the documents of commands, and the stream of events.
    ///
    /// - Parameter plugins: Searches the plugin directories, and may block.
    static func documents(
        of host: ConnectorHost,
        plugins: @escaping @Sendable () -> PluginListing
    ) -> [ControlEndpoint] {
        let search = SharedJob(on: host.workers, plugins)
        return [
            ControlEndpoint(
                operation: "host",
                path: "/api/v1/host",
                summary: "The identity of the host.",
                answers: [answer("The host.", ControlSchemas.host)]
            ) { _ in ServerResponse(HostIdentity(of: host).json) },
            ControlEndpoint(
                operation: "status",
                path: "/api/v1/status",
                summary: "The report: the document of `connector-host status --json`.",
                answers: [answer("The report.", ControlSchemas.status)]
            ) { _ in ServerResponse(host.report.json) },
            ControlEndpoint(
                operation: "operations",
                path: "/api/v1/operations",
                summary: "The operations of every leaf: the document of `connector-host operations --json`.",
                answers: [answer("The operations.", ControlSchemas.operations)]
            ) { _ in ServerResponse(host.operations.json) },
            ControlEndpoint(
                operation: "plugins",
                path: "/api/v1/plugins",
                summary:
                    "The files in the plugin directories, and the images in memory: the document of `connector-host plugins --json`.",
                answers: [answer("The plugins.", ControlSchemas.plugins)]
            ) { _ in
                var listing = await search.result()
                listing.images = host.heldImages
                return ServerResponse(listing.json)
            },
            ControlEndpoint(
                operation: "images",
                path: "/api/v1/images",
                summary: "The images of plugins in the host's memory, where they stay until its process ends.",
                answers: [answer("The images, by their files.", ControlSchemas.images)]
            ) { _ in ServerResponse(PluginListing.document(of: host.heldImages)) },
            events(of: host),
        ]
    }

    private static func events(of host: ConnectorHost) -> ControlEndpoint {
        ControlEndpoint(
            operation: "events",
            path: "/api/v1/events",
            summary:
                "A stream of the events that plugins emit from now on, until the client disconnects: the documents "
                + "of `connector-host watch --json`.",
            query: [
                ControlField("connector", .text, "A leaf, or a composite for every leaf below it; all by default."),
                ControlField("count", .integer(1...1_000_000), "The number of events after which the stream ends."),
            ],
            answers: [
                ControlEndpoint.Answer(
                    status: 200,
                    meaning: "The stream of events, in the type that Accept names.",
                    contentTypes: [ControlStream.Format.events.contentType, ControlStream.Format.lines.contentType],
                    schema: ControlSchemas.pluginEvent
                )
            ]
        ) { input throws(ConnectorError) in
            let path = input["connector"]
            if let path { _ = try host.gate(path) }
            let events = host.events(of: path)
            let (format, count) = (input.format ?? .events, input.integer("count"))
            return ServerResponse(format) {
                ControlStream.parts(format, dropping: .newest) { send in
                    var (sent, dropped) = (0, 0)
                    for await event in events {
                        var event = event
                        event.missed += dropped
                        guard send("event", event.json) else {
                            dropped = event.missed + 1
                            continue
                        }
                        dropped = 0
                        sent += 1
                        if sent == count { return }
                    }
                }
            }
        }
    }

    /// The endpoint that returns the OpenAPI description.
    static func description(_ document: @escaping @Sendable () -> JSONValue) -> ControlEndpoint {
        ControlEndpoint(
            operation: "description",
            path: "/api/v1/openapi.json",
            summary: "This description.",
            answers: [answer("The description.", ["type": "object", "required": ["openapi", "paths"]])]
        ) { _ in ServerResponse(document()) }
    }
}
