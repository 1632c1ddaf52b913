// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to a Parse Server.
struct ParseRequests {
    let endpoint: HTTPURL
    let applicationId: String
    let clientKey: SecretPlaceholder?
    let restAPIKey: SecretPlaceholder?

    /// The application's configuration, which the application may read.
    var configuration: HTTPRequest { request(.get, endpoint.appending("config")) }

    /// Reports that the application was opened.
    func appOpened(at time: Timestamp, pushHash: String?) -> HTTPRequest {
        var body: JSONObject = ["at": ["__type": "Date", "iso": .string("\(time)")]]
        if let pushHash { body["push_hash"] = .string(pushHash) }
        return request(.post, endpoint.appending("events", "AppOpened"), body)
    }

    /// - Parameter requestId: The id by which the server recognizes a repeated request.
    func create(_ record: JSONObject, in collection: String, id: String?, requestId: String) -> HTTPRequest {
        var record = record
        if let id { record["objectId"] = .string(id) }
        var request = request(.post, classes(collection), record)
        request.headers["X-Parse-Request-Id"] = requestId
        return request
    }

    func get(_ id: String, in collection: String) -> HTTPRequest {
        request(.get, classes(collection).appending(id))
    }

    func update(_ id: String, with changes: JSONObject, in collection: String) -> HTTPRequest {
        request(.put, classes(collection).appending(id), changes)
    }

    func delete(_ id: String, in collection: String) -> HTTPRequest {
        request(.delete, classes(collection).appending(id))
    }

    func query(_ query: DatabaseQuery, skip: Int, in collection: String) throws(PluginError) -> HTTPRequest {
        let order = ParseQuery.order(query.sort).joined(separator: ",")
        let condition = ParseQuery.condition(query.filters)
        let url = classes(collection)
            .with("where", condition.isEmpty ? nil : JSONValue.object(condition).serialized())
            .with("order", order)
            .with("limit", "\(query.limit)")
            .with("skip", skip == 0 ? nil : "\(skip)")
            .with("count", "1")
        return request(.get, url)
    }

    private func classes(_ collection: String) -> HTTPURL { endpoint.appending("classes", collection) }

    private func request(_ method: HTTPRequest.Method, _ url: HTTPURL, _ body: JSONObject? = nil) -> HTTPRequest {
        var request = body.map { HTTPRequest(method, url, json: .object($0)) } ?? HTTPRequest(method, url)
        request.headers["X-Parse-Application-Id"] = applicationId
        if let restAPIKey { request.headers["X-Parse-REST-API-Key"] = restAPIKey.text }
        if let clientKey { request.headers["X-Parse-Client-Key"] = clientKey.text }
        return request
    }
}
