// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The endpoints that plan and make changes of the configuration.
extension ControlAPI {
    /// The endpoints that do the same as `connector-host plan`, `apply` and `reload`.
    static func reloading(_ host: ConnectorHost) -> [ControlEndpoint] {
        [
            ControlEndpoint(
                operation: "plan",
                path: "/api/v1/plan",
                summary: "What a reload of the file would change: the document of `connector-host plan --json`.",
                answers: [answer("The plan.", ControlSchemas.plan)]
            ) { _ throws(ConnectorError) in
                do throws(ConfigurationErrors) {
                    return ControlResponse(try await host.plan().json)
                } catch {
                    return ControlResponse(["version": 1, "errors": .array(error.errors.map(\.json))], status: 422)
                }
            },
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
                guard let value = input.values["basis"] else { return ControlResponse(await host.reload()) }
                guard let basis = Plan.Basis(json: value) else {
                    throw ConnectorError(.invalid, "\"basis\" is not the member of a plan", fix: "get /api/v1/plan")
                }
                return ControlResponse(await host.reload(ifStill: basis))
            },
        ]
    }
}

extension ControlResponse {
    /// Creates a response with the end of a reload; its status is that of the first error, if it changed nothing.
    fileprivate init(_ reload: Reload) {
        let refusal = reload.phase == .read || reload.phase == .plan ? 422 : 503
        let isConflict = reload.errors.first?.code == .conflict
        self.init(reload.json, status: reload.isActive ? 200 : isConflict ? 409 : refusal)
    }
}
