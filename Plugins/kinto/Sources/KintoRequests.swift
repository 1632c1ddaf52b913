// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Kinto (docs.kinto-storage.org/en/latest/api/1.x).
struct KintoRequests {
    let endpoint: HTTPURL
    let bucket: String
    let username: String
    let password: SecretPlaceholder

    /// A request for the server's description and the client's identity.
    var root: HTTPRequest { request(.get, endpoint.appending(path: "/")) }

    /// A request for the bucket's metadata.
    var bucketMetadata: HTTPRequest { request(.get, endpoint.appending("buckets", bucket)) }

    /// A request that creates a missing collection.
    func createCollection(_ collection: String) throws(PluginError) -> HTTPRequest {
        var request = request(.put, try url(of: collection))
        request.headers["If-None-Match"] = "*"
        return request
    }

    func create(_ record: JSONObject, in collection: String, id: String?) throws(PluginError) -> HTTPRequest {
        guard let id else { return request(.post, try records(collection), record) }
        var request = request(.put, try self.record(id, in: collection), record)
        request.headers["If-None-Match"] = "*"
        return request
    }

    func get(_ id: String, in collection: String) throws(PluginError) -> HTTPRequest {
        request(.get, try self.record(id, in: collection))
    }

    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) throws(PluginError)
        -> HTTPRequest
    {
        try request(.put, self.record(id, in: collection), record).matching(version)
    }

    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) throws(PluginError)
        -> HTTPRequest
    {
        try request(.patch, self.record(id, in: collection), record).matching(version)
    }

    func delete(_ id: String, in collection: String, version: String?) throws(PluginError) -> HTTPRequest {
        try request(.delete, record(id, in: collection)).matching(version)
    }

    func query(_ query: DatabaseQuery, in collection: String) throws(PluginError) -> HTTPRequest {
        var url = try records(collection)
        for (name, value) in try KintoFilter.items(query.filters) { url = url.with(name, value) }
        var order: [String] = []
        for sort in query.sort {
            let field = try KintoFilter.comparable(sort.field)
            order.append(sort.isDescending ? "-" + field : field)
        }
        if !order.isEmpty { url = url.with("_sort", order.joined(separator: ",")) }
        return request(.get, url.with("_limit", "\(query.limit)").with("_token", query.cursor))
    }

    private func url(of collection: String) throws(PluginError) -> HTTPURL {
        endpoint.appending("buckets", bucket, "collections", try Self.checked(collection))
    }

    private func records(_ collection: String) throws(PluginError) -> HTTPURL {
        try url(of: collection).appending("records")
    }

    private func record(_ id: String, in collection: String) throws(PluginError) -> HTTPURL {
        try records(collection).appending(try Self.checked(id))
    }

    /// Throws for a slash: the server decodes an escaped slash as a separator, and would find another object.
    private static func checked(_ name: String) throws(PluginError) -> String {
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            throw PluginError(.invalid, "\"\(name)\" has a slash, which Kinto does not allow in names", domain: "kinto")
        }
        return name
    }

    private func request(_ method: HTTPRequest.Method, _ url: HTTPURL, _ record: JSONObject? = nil) -> HTTPRequest {
        var request = record.map { HTTPRequest(method, url, json: ["data": .object($0)]) } ?? HTTPRequest(method, url)
        request.headers["Authorization"] = SecretPlaceholder.basicCredentials(user: username, password: password.text)
        return request
    }
}

extension HTTPRequest {
    /// Adds the condition that the record still has a version: Kinto's milliseconds, quoted.
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
