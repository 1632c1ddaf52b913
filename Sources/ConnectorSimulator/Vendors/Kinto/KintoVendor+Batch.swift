// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

extension KintoVendor {
    /// The most requests in a batch.
    private static let batchLimit = 25

    /// Answers several requests as if sent separately, with the credentials of the batch.
    func batch(_ request: SimulatedRequest) throws(KintoFailure) -> HTTPResponse {
        guard request.method == "POST" else { throw .method(allowed: "POST, OPTIONS") }
        let body = try KintoBody.json(of: request, types: ["application/json"])
        guard let requests = body["requests"]?.array else {
            throw .invalid("requests in body: Required", location: "body", name: "requests", description: "Required")
        }
        guard requests.count <= Self.batchLimit else {
            let message = "Number of requests is limited to \(Self.batchLimit)"
            throw .invalid(message, location: "body", name: "requests")
        }
        var inner: [SimulatedRequest] = []
        for item in requests { inner.append(try self.request(item, defaults: body["defaults"], in: request)) }
        let responses = inner.map { inner -> JSONValue in
            let response = respond(to: inner)
            var headers = JSONObject(response.headers.map { ($0.name, JSONValue.string($0.value)) })
            headers["Content-Length"] = .string(String(response.body.count))
            return [
                "path": .string(inner.target),
                "status": .integer(Int64(response.status)),
                "headers": .object(headers),
                "body": (try? JSONValue(document: response.body)) ?? .null,
            ]
        }
        return HTTPResponse(json: ["responses": .array(responses)])
    }

    /// Reads one request of a batch.
    private func request(
        _ item: JSONValue,
        defaults: JSONValue?,
        in batch: SimulatedRequest
    ) throws(KintoFailure) -> SimulatedRequest {
        guard var path = (item["path"] ?? defaults?["path"])?.string else {
            throw .invalid(
                "requests in body: Required",
                location: "body",
                name: "requests.path",
                description: "Required"
            )
        }
        if !path.hasPrefix("/v1/") { path = "/v1" + path }
        guard SimulatedRequest("GET", path).components.dropFirst().first != "batch" else {
            let message = "Recursive call on /batch endpoint is forbidden."
            throw .invalid("requests in body: \(message)", location: "body", name: "requests", description: message)
        }
        var headers: HTTPFields = ["Content-Type": "application/json"]
        headers["Host"] = batch.fields["Host"]
        headers["Authorization"] = batch.fields["Authorization"]
        for member in (defaults?["headers"]?.object?.members ?? []) + (item["headers"]?.object?.members ?? []) {
            headers[member.name] = member.value.string
        }
        var body = defaults?["body"]?.object
        if let own = item["body"]?.object {
            var merged = body ?? JSONObject()
            for member in own.members { merged[member.name] = member.value }
            body = merged
        }
        let method = (item["method"] ?? defaults?["method"])?.string?.uppercased() ?? "GET"
        return SimulatedRequest(
            method,
            path,
            headers: headers,
            body: body.map { JSONValue.object($0).utf8() } ?? [],
            prefix: batch.prefix,
            receivedAt: batch.receivedAt
        )
    }
}
