// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest

/// What can be done to the gates.
extension ControlAPI {
    /// The longest time that a call may take, in milliseconds: a day.
    package static let timeoutLimit: Int64 = 86_400_000

    /// Calls, and the states of gates.
    static func acts(on host: ConnectorHost) -> [ControlEndpoint] {
        [
            call(of: host),
            gate(host, "retry", "Tries a connector and everything below it at once.") {
                host,
                path throws(ConnectorError) in
                try await host.retry(path)
            },
            gate(host, "open", "Opens a connector, and what it waits for.") { host, path throws(ConnectorError) in
                try await host.open(path)
            },
            gate(host, "close", "Closes a connector and everything below it, until it is opened again.") {
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
            ControlResponse(try await act(host, input["connector"] ?? "").json)
        }
    }

    private static func call(of host: ConnectorHost) -> ControlEndpoint {
        ControlEndpoint(
            operation: "call",
            method: .post,
            path: "/api/v1/calls",
            summary: "Calls an operation: the document of `connector-host call --json`. A client that breaks the "
                + "connection off cancels the call.",
            body: [
                ControlField("connector", .text, isRequired: true, "Its path, such as geocoder."),
                ControlField("operation", .text, isRequired: true, "The operation; capability/operation if need be."),
                ControlField(
                    "arguments",
                    .arguments,
                    "By parameter, or as the words that connector-host call takes; none by default."
                ),
                ControlField(
                    "timeoutMilliseconds",
                    .integer(1...timeoutLimit),
                    "The longest wait for the answer; 30,000 by default."
                ),
            ],
            answers: [
                ControlEndpoint.Answer(
                    status: 200,
                    meaning: "The answer. If Accept names one of the other types: the progress, and then the answer or "
                        + "the error, one after the other.",
                    contentTypes: [
                        ControlResponse.json, ControlStream.Format.events.contentType,
                        ControlStream.Format.lines.contentType,
                    ],
                    schema: ControlSchemas.answer
                )
            ]
        ) { input throws(ConnectorError) in
            let asked = try AskedCall(input, of: host)
            guard let format = input.format else { return ControlResponse(try await asked.answer()) }
            return ControlResponse(
                format,
                ControlStream.parts(format, losing: .oldest) { tell in
                    do throws(ConnectorError) {
                        let answer = try await asked.answer { _ = tell("progress", ["version": 1, "progress": $0]) }
                        _ = tell("result", answer)
                    } catch {
                        _ = tell("error", error.document)
                    }
                }
            )
        }
    }
}

/// A call that a request asks for.
private struct AskedCall: Sendable {
    private let gate: GateClient
    private let operation: String
    private let arguments: JSONObject
    private let timeout: Duration

    /// - Throws: `unknown-connector`, `unsupported` for an operation that it does not have, `invalid` for words that are
    ///   no arguments.
    init(_ input: ControlInput, of host: ConnectorHost) throws(ConnectorError) {
        gate = try host.gate(input["connector"] ?? "")
        operation = input["operation"] ?? ""
        let found = try gate.definition(of: operation)
        arguments =
            if let words = input.texts("arguments") {
                try ArgumentReader(found.operation, of: found.capability.id).arguments(words)
            } else {
                input.values["arguments"]?.object ?? JSONObject()
            }
        timeout = .milliseconds(input.integer("timeoutMilliseconds") ?? 30_000)
    }

    /// Calls, and makes the document.
    func answer(
        _ onProgress: (@Sendable (JSONValue) -> Void)? = nil
    ) async throws(ConnectorError) -> JSONValue {
        let options = CallOptions(timeout: timeout, onProgress: onProgress)
        let result = try await gate.call(operation, arguments, options: options)
        return ["version": 1, "path": .string(gate.path), "operation": .string(operation), "result": result]
    }
}
