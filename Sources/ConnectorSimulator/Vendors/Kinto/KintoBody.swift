// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// The body of a request about an object.
struct KintoBody {
    /// The object's fields; `nil` if absent.
    var data: JSONObject?
    /// The object's permissions; `nil` if absent.
    var permissions: JSONObject?

    /// Parses `{"data": …, "permissions": …}`; an empty body has neither.
    init(_ request: SimulatedRequest) throws(KintoFailure) {
        guard request.method != "PATCH" || request.mediaType != "application/json-patch+json" else {
            throw KintoFailure(
                status: 501,
                errno: 999,
                message: "The simulator does not implement JSON patches; send application/merge-patch+json"
            )
        }
        guard !request.body.isEmpty else { return }
        let types =
            request.method == "PATCH" ? ["application/json", "application/merge-patch+json"] : ["application/json"]
        let body = try Self.json(of: request, types: types)
        let unknown = (body.object ?? JSONObject()).members.filter { $0.name != "data" && $0.name != "permissions" }
        guard unknown.isEmpty else {
            let names = unknown.map { "'\($0.name)': \($0.value)" }.joined(separator: ", ")
            throw .invalid("Unrecognized keys in mapping: \"{\(names)}\"", location: "body", name: "")
        }
        data = try Self.object(body, "data")
        permissions = try Self.object(body, "permissions")
    }

    /// An optional member, which must be an object.
    private static func object(_ body: JSONValue, _ name: String) throws(KintoFailure) -> JSONObject? {
        guard let value = body[name] else { return nil }
        guard let object = value.object else {
            let message = "\"\(value)\" is not a mapping type: Does not implement dict-like functionality."
            throw .invalid("\(name) in body: \(message)", location: "body", name: name, description: message)
        }
        return object
    }

    /// The body as a JSON object; throws unless its media type is one of `types`.
    static func json(of request: SimulatedRequest, types: [String]) throws(KintoFailure) -> JSONValue {
        guard let type = request.mediaType, types.contains(type) else {
            let list = types.map { "'\($0)'" }.joined(separator: ", ")
            let message = "Content-Type header should be one of [\(list)]"
            var failure = KintoFailure.invalid(message, location: "header", name: "Content-Type")
            failure.status = 415
            throw failure
        }
        let body: JSONValue
        do {
            body = try request.json()
        } catch {
            throw .invalid("Invalid JSON: \(error.message)", location: "body", name: "")
        }
        guard case .object = body else {
            let message = "\"\(body)\" is not a mapping type: Does not implement dict-like functionality."
            throw .invalid(message, location: "body", name: "")
        }
        return body
    }
}
