// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHTTPServer
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest

/// The endpoints that act on gates.
extension ControlAPI {
    /// The maximum timeout of a call, in milliseconds: one day.
    package static let timeoutLimit: Int64 = 86_400_000

    /// The endpoints that call operations, and retry, open and close gates.
    static func acts(on host: ConnectorHost) -> [ControlEndpoint] {
        [
            call(of: host),
            gate(host, "retry", "Retries a connector and everything below it immediately.") {
                host,
                path throws(ConnectorError) in
                try host.requireNotClosing()
                return try await host.retry(path)
            },
            gate(host, "open", "Opens a connector and those it depends on.") { host, path throws(ConnectorError) in
                try host.requireNotClosing()
                return try await host.open(path)
            },
            gate(host, "close", "Closes a connector and everything below it, at all places, until it is opened again.")
            {
                host,
                path throws(ConnectorError) in
                try await host.close(path)
                return host.report
            },
        ]
    }

    private static func gate(
        _ host: ConnectorHost,
        _ name: String,
        _ summary: String,
        _ act: @escaping @Sendable (ConnectorHost, String) async throws(ConnectorError) -> Report
    ) -> ControlEndpoint {
        ControlEndpoint(
            operation: name,
            method: .post,
            path: "/api/v1/gates/\(name)",
            summary: summary,
            body: [ControlField("connector", .text, isRequired: true, "Its path, such as analytics/segment.")],
            answers: [answer("The report after that.", ControlSchemas.status)]
        ) { input throws(ConnectorError) in
            ServerResponse(try await act(host, input["connector"] ?? "").json)
        }
    }

    private static func call(of host: ConnectorHost) -> ControlEndpoint {
        ControlEndpoint(
            operation: "call",
            method: .post,
            path: "/api/v1/calls",
            summary: "Calls an operation: the document of `connector-host call --json`. Closing the connection cancels "
                + "the call.",
            body: [
                ControlField("connector", .text, isRequired: true, "Its path, such as geocoder."),
                ControlField(
                    "operation",
                    .text,
                    isRequired: true,
                    "The operation; capability/operation if the name is ambiguous."
                ),
                ControlField(
                    "arguments",
                    .arguments,
                    "By parameter name, or as the words that connector-host call takes; none by default."
                ),
                ControlField(
                    "timeoutMilliseconds",
                    .integer(1...timeoutLimit),
                    "The timeout of the call; 30,000 by default."
                ),
            ],
            answers: [
                ControlEndpoint.Answer(
                    status: 200,
                    meaning:
                        "The answer. With one of the other types in Accept: a stream of the progress, followed by the "
                        + "answer or the error.",
                    contentTypes: [
                        ServerResponse.json, ControlStream.Format.events.contentType,
                        ControlStream.Format.lines.contentType,
                    ],
                    schema: ControlSchemas.answer
                )
            ]
        ) { input throws(ConnectorError) in
            let call = try RequestedCall(input, of: host)
            guard let format = input.format else { return ServerResponse(try await call.answer()) }
            return ServerResponse(format) {
                ControlStream.parts(format, dropping: .oldest) { send in
                    do throws(ConnectorError) {
                        let answer = try await call.answer { _ = send("progress", ["version": 1, "progress": $0]) }
                        _ = send("result", answer)
                    } catch {
                        _ = send("error", error.document)
                    }
                }
            }
        }
    }
}

/// The call that a request describes.
private struct RequestedCall: Sendable {
    private let gate: GateClient
    private let operation: String
    private let arguments: JSONObject
    private let timeout: Duration

    /// Reads the call from the values of a request.
    ///
    /// - Throws: `unknown-connector`; `unsupported` for an operation that the connector does not have; `invalid` for words
    ///   that are not arguments.
    init(_ input: ControlInput, of host: ConnectorHost) throws(ConnectorError) {
        gate = try host.gate(input["connector"] ?? "")
        operation = input["operation"] ?? ""
        let definition = try gate.definition(of: operation)
        arguments =
            if let words = input.texts("arguments") {
                try ArgumentReader(definition.operation, of: definition.capability.id).arguments(words)
            } else {
                input.values["arguments"]?.object ?? JSONObject()
            }
        timeout = .milliseconds(input.integer("timeoutMilliseconds") ?? 30_000)
    }

    /// Makes the call and returns the document with its result.
    func answer(
        _ onProgress: (@Sendable (JSONValue) -> Void)? = nil
    ) async throws(ConnectorError) -> JSONValue {
        var options = CallOptions(timeout: timeout, onProgress: onProgress)
        options.keepsTimeout = true
        let result = try await gate.call(operation, arguments, options: options)
        return ["version": 1, "path": .string(gate.path), "operation": .string(operation), "result": result]
    }
}
