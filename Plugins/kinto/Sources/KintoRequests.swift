// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// What is sent to Kinto (docs.kinto-storage.org/en/latest/api/1.x).
struct KintoRequests {
    let endpoint: HTTPURL
    let bucket: String
    let username: String
    let password: SecretPlaceholder

    /// What the server is, and who the client is.
    var root: HTTPRequest { request(.get, endpoint.appending(path: "/")) }

    /// The bucket without what is in it.
    var bucketItself: HTTPRequest { request(.get, endpoint.appending("buckets", bucket)) }

    /// Makes a collection that does not exist.
    func make(_ collection: String) -> HTTPRequest {
        var request = request(.put, endpoint.appending("buckets", bucket, "collections", collection))
        request.headers["If-None-Match"] = "*"
        return request
    }

    func create(_ record: JSONObject, in collection: String, id: String?) -> HTTPRequest {
        guard let id else { return request(.post, records(collection), record) }
        var request = request(.put, records(collection).appending(id), record)
        request.headers["If-None-Match"] = "*"
        return request
    }

    func get(_ id: String, in collection: String) -> HTTPRequest {
        request(.get, records(collection).appending(id))
    }

    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) throws(PluginError)
        -> HTTPRequest
    {
        try request(.put, records(collection).appending(id), record).matching(version)
    }

    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) throws(PluginError)
        -> HTTPRequest
    {
        try request(.patch, records(collection).appending(id), record).matching(version)
    }

    func delete(_ id: String, in collection: String, version: String?) throws(PluginError) -> HTTPRequest {
        try request(.delete, records(collection).appending(id)).matching(version)
    }

    func query(_ query: DatabaseQuery, in collection: String) throws(PluginError) -> HTTPRequest {
        var url = records(collection)
        for filter in query.filters {
            let (name, value) = try KintoFilter.item(filter)
            url = url.with(name, value)
        }
        if !query.sort.isEmpty {
            url = url.with("_sort", query.sort.map { ($0.isDescending ? "-" : "") + $0.field }.joined(separator: ","))
        }
        return request(.get, url.with("_limit", "\(query.limit)").with("_token", query.cursor))
    }

    private func records(_ collection: String) -> HTTPURL {
        endpoint.appending("buckets", bucket, "collections", collection, "records")
    }

    private func request(_ method: HTTPRequest.Method, _ url: HTTPURL, _ record: JSONObject? = nil) -> HTTPRequest {
        var request = record.map { HTTPRequest(method, url, json: ["data": .object($0)]) } ?? HTTPRequest(method, url)
        request.headers["Authorization"] = SecretPlaceholder.basicCredentials(user: username, password: password.text)
        return request
    }
}

extension HTTPRequest {
    /// The request on the condition that the record has a version still: Kinto's milliseconds, quoted.
    fileprivate func matching(_ version: String?) throws(PluginError) -> HTTPRequest {
        guard let version else { return self }
        guard let milliseconds = UInt64(version) else {
            throw PluginError(.invalid, "version must be one that Kinto gave: a whole number", domain: "kinto")
        }
        var request = self
        request.headers["If-Match"] = "\"\(milliseconds)\""
        return request
    }
}
