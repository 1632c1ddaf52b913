// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
package import ConnectorManifest

extension ControlAPI {
    /// The description of some endpoints, in OpenAPI 3.1.
    static func document(of endpoints: [ControlEndpoint]) -> JSONValue {
        var paths = JSONObject()
        for endpoint in endpoints {
            var responses = JSONObject()
            for answer in endpoint.answers {
                responses["\(answer.status)"] = .object([
                    "description": .string(answer.meaning),
                    "content": .object(JSONObject([(answer.contentType, .object(["schema": answer.schema]))])),
                ])
            }
            responses["default"] = [
                "description": "Wrong usage, or a limit that was exceeded.",
                "content": ["application/json": ["schema": ControlSchemas.errors]],
            ]
            paths[endpoint.path] = [
                "get": [
                    "operationId": .string(endpoint.operation),
                    "summary": .string(endpoint.summary),
                    "responses": .object(responses),
                ]
            ]
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "connector-host",
                "version": .string(ConnectorHost.version),
                "summary": "What a host that runs tells about itself.",
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/", "description": "The Unix socket `control` in the host's state directory."]],
            "paths": .object(paths),
        ]
    }

    /// The description of the API.
    package var document: JSONValue { Self.document(of: endpoints) }
}
