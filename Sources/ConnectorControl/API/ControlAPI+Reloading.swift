// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorHost

/// The endpoints that plan changes of the configuration and make them.
extension ControlAPI {
    /// The endpoints that do the same as `connector-host plan`, `apply` and `reload`.
    ///
    /// A plan shows values of `config`, and making it runs the commands of secrets, so it requires the permission to act.
    static func reloading(_ host: ConnectorHost) -> [ControlEndpoint] {
        [
            ControlEndpoint(
                operation: "plan",
                path: "/api/v1/plan",
                summary: "What a reload of the file would change: the document of `connector-host plan --json`.",
                answers: [answer("The plan.", ControlSchemas.plan)]
            ) { _ throws(ConnectorError) in
                await planned { () throws(ConfigurationErrors) in try await host.plan() }
            }.forActing(),
            ControlEndpoint(
                operation: "reload",
                method: .post,
                path: "/api/v1/reload",
                summary: "Takes up the file: the document of `connector-host reload --json`.",
                body: [
                    ControlField(
                        "basis",
                        .object,
                        "The member basis of a plan, which is refused if any of it has changed; by default, whatever there is now."
                    )
                ],
                answers: [
                    answer(
                        "The configuration is active. With another status, the same document says in which phase the reload ended, "
                            + "and why.",
                        ControlSchemas.reload
                    )
                ]
            ) { input throws(ConnectorError) in
                guard let basis = try basis(in: input, of: "/api/v1/plan") else {
                    return ServerResponse(await host.reload())
                }
                return ServerResponse(await host.reload(ifStill: basis))
            },
        ]
    }
}

extension ControlAPI {
    /// The response with a plan, or with every fault that prevents it.
    private static func planned(_ make: () async throws(ConfigurationErrors) -> Plan) async -> ServerResponse {
        do throws(ConfigurationErrors) {
            return ServerResponse(try await make().json)
        } catch {
            return ServerResponse(["version": 1, "errors": .array(error.errors.map(\.json))], status: 422)
        }
    }

    /// The basis of a plan that a request contains; nil if it contains none.
    ///
    /// - Parameter source: The endpoint that such a plan comes from, for the error's fix.
    private static func basis(in input: ControlInput, of source: String) throws(ConnectorError) -> Plan.Basis? {
        guard let value = input.values["basis"] else { return nil }
        guard let basis = Plan.Basis(json: value) else {
            throw ConnectorError(.invalid, "\"basis\" is not the member of a plan", fix: "get \(source)")
        }
        return basis
    }
}

/// The endpoints that replace one image with another.
extension ControlAPI {
    private static let connector = ControlField("connector", .text, isRequired: true, "The path of a leaf.")
    private static let file = ControlField(
        "file",
        .text,
        isRequired: true,
        "The image, by its absolute path on the host's machine."
    )

    /// The endpoints that do the same as `connector-host swap`.
    static func swapping(_ host: ConnectorHost) -> [ControlEndpoint] {
        [
            ControlEndpoint(
                operation: "planSwap",
                path: "/api/v1/swap/plan",
                summary: "What putting another image in the place of a connector's would change.",
                query: [connector, file],
                answers: [answer("The plan.", ControlSchemas.plan)]
            ) { input throws(ConnectorError) in
                let (path, file) = try names(in: input)
                return await planned { () throws(ConfigurationErrors) in try await host.plan(swapping: path, with: file)
                }
            }.forActing(),
            ControlEndpoint(
                operation: "swap",
                method: .post,
                path: "/api/v1/swap",
                summary: "Checks an image, puts it in the place of a connector's, and reloads.",
                body: [
                    connector, file,
                    ControlField(
                        "basis",
                        .object,
                        "The member basis of a plan, which is refused if any of it has changed."
                    ),
                ],
                answers: [
                    answer(
                        "The image is in use. With another status, the old one is, and the document says why.",
                        ControlSchemas.reload
                    )
                ]
            ) { input throws(ConnectorError) in
                let (path, file) = try names(in: input)
                let basis = try basis(in: input, of: "/api/v1/swap/plan")
                return ServerResponse(await host.swap(path, with: file, ifStill: basis))
            },
        ]
    }

    private static func names(in input: ControlInput) throws(ConnectorError) -> (path: String, file: String) {
        guard let path = input["connector"], let file = input["file"], file.hasPrefix("/") else {
            throw ConnectorError(.invalid, "\"file\" is not an absolute path", fix: "begin it with a slash")
        }
        return (path, file)
    }
}

extension ServerResponse {
    /// Creates a response with the outcome of a reload: the status is 200, 409 for a conflict, 422 for a fault, or 503.
    fileprivate init(_ reload: Reload) {
        let refusal = reload.phase == .read || reload.phase == .plan ? 422 : 503
        let isConflict = reload.errors.first?.code == .conflict
        self.init(reload.json, status: reload.isActive ? 200 : isConflict ? 409 : refusal)
    }
}
