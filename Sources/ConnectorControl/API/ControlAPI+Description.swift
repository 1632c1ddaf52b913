// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHost

extension ControlAPI {
    /// The OpenAPI 3.1 description of endpoints.
    ///
    /// - Parameter isLocal: Whether they are served on the socket in the state directory, where clients need no token.
    static func document(of endpoints: [ControlEndpoint], isLocal: Bool) -> JSONValue {
        var paths = JSONObject()
        for endpoint in endpoints {
            var methods = paths[endpoint.path]?.object ?? JSONObject()
            var description = endpoint.description
            if !isLocal, endpoint.path == livenessPath { description["security"] = .array([]) }
            methods[endpoint.method.rawValue.lowercased()] = .object(description)
            paths[endpoint.path] = .object(methods)
        }
        let place = isLocal ? "The Unix socket `control` in the host's state directory." : "The address of the console."
        var components: JSONObject = ["schemas": .object(ControlSchemas.components)]
        var document: JSONObject = [
            "openapi": "3.1.0",
            "info": [
                "title": "connector-host",
                "version": .string(ConnectorHost.version),
                "summary": "Reports the state of a running host, and controls it.",
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/", "description": .string(place)]],
        ]
        if !isLocal {
            document["security"] = [["token": []]]
            components["securitySchemes"] = [
                "token": [
                    "type": "http", "scheme": "bearer",
                    "description": "A token of the console, or the one in its link until a browser has used that.",
                ]
            ]
        }
        document["paths"] = .object(paths)
        document["components"] = .object(components)
        return .object(document)
    }

    /// The OpenAPI 3.1 description of the API.
    package var document: JSONValue { Self.document(of: endpoints, isLocal: isLocal) }
}

extension ControlEndpoint {
    /// The operation object of the description.
    fileprivate var description: JSONObject {
        var responses = JSONObject()
        for answer in answers {
            let schema = ControlSchemas.referring(answer.schema)
            responses["\(answer.status)"] = [
                "description": .string(answer.meaning),
                "content": .object(JSONObject(answer.contentTypes.map { ($0, ["schema": schema]) })),
            ]
        }
        responses["default"] = [
            "description": "An invalid request, an exceeded limit, or a failure.",
            "content": ["application/json": ["schema": ControlSchemas.referring(ControlSchemas.errors)]],
        ]
        var object: JSONObject = [
            "operationId": .string(operation),
            "summary": .string(summary),
            "x-right": .string(permission.rawValue),
        ]
        let parameters = segments.map { $0.parameter(in: "path") } + query.map { $0.parameter(in: "query") }
        if !parameters.isEmpty { object["parameters"] = .array(parameters) }
        if let body {
            object["requestBody"] = [
                "required": true,
                "description": .string("At most \(ControlAPI.bodyLimit >> 10) KiB."),
                "content": ["application/json": ["schema": ControlField.schema(of: body, choice: choice)]],
            ]
        }
        object["responses"] = .object(responses)
        return object
    }
}

extension ControlField {
    /// The parameter object of the field.
    ///
    /// - Parameter location: `path` or `query`.
    fileprivate func parameter(in location: String) -> JSONValue {
        [
            "name": .string(name), "in": .string(location), "required": .bool(isRequired || location == "path"),
            "description": .string(meaning), "schema": schema,
        ]
    }

    /// The schema of an object that allows only these members.
    ///
    /// - Parameter choice: The members of which exactly one is required; empty for none.
    fileprivate static func schema(of members: [ControlField], choice: [String]) -> JSONValue {
        let properties = members.map { member -> (String, JSONValue) in
            var schema = member.schema.object ?? JSONObject()
            schema["description"] = .string(member.meaning)
            return (member.name, .object(schema))
        }
        var object: JSONObject = [
            "type": "object",
            "required": .array(members.filter(\.isRequired).map { .string($0.name) }),
            "properties": .object(JSONObject(properties)),
            "additionalProperties": false,
        ]
        if !choice.isEmpty { object["oneOf"] = .array(choice.map { ["required": [.string($0)]] }) }
        return .object(object)
    }
}
