// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Answers one request about a list or an object.
struct KintoResource {
    /// The request.
    let request: SimulatedRequest
    /// The list or object that the request names.
    let path: KintoPath
    /// The user who sent the request.
    let user: String
    /// The stored objects; the request may change them.
    var store: KintoStore

    /// Answers the request.
    mutating func respond() throws(KintoFailure) -> HTTPResponse {
        try checkParents()
        if let id = path.id {
            switch request.method {
            case "GET": return try get(id)
            case "PUT": return try put(id)
            case "PATCH": return try patch(id)
            case "DELETE": return try delete(id)
            default: throw .method(allowed: "GET, HEAD, PUT, PATCH, DELETE, OPTIONS")
            }
        }
        switch request.method {
        case "GET": return try list()
        case "POST": return try create()
        case "DELETE": return try deleteList()
        default: throw .method(allowed: "HEAD, GET, POST, DELETE, OPTIONS")
        }
    }

    /// Throws if the path's bucket or collection does not exist.
    private func checkParents() throws(KintoFailure) {
        if let bucket = path.parents.first, store.object(bucket, in: "/buckets") == nil { throw .forbidden }
        guard path.parents.count == 2 else { return }
        guard store.object(path.parents[1], in: "/buckets/\(path.parents[0])/collections") != nil else {
            throw .missing(path.parents[1], "collection", isParent: true)
        }
    }

    // MARK: Lists

    /// Answers a page of a list.
    private mutating func list() throws(KintoFailure) -> HTTPResponse {
        let query = try KintoQuery(request.query)
        let timestamp = store.timestamp(of: path.list, now: request.receivedAt)
        if let response = try conditional(timestamp, existing: nil) { return response }
        let objects = query.select(from: store.objects(in: path.list, includingDeleted: query.includesDeleted))
        let (page, token) = query.page(of: objects)
        var response = answer(.object(["data": .array(page.map { .object($0) })]), timestamp)
        response.headers["Cache-Control"] = "no-cache, no-store"
        if request.isHead {
            let count = objects.filter { $0["deleted"] == nil }.count
            response.headers["Total-Objects"] = String(count)
            response.headers["Total-Records"] = String(count)
        }
        if let token {
            var next = request.query
            next.items.removeAll { $0.name == "_token" }
            next.items.append(QueryItems.Item(name: "_token", value: token))
            response.headers["Next-Page"] = "\(request.baseURL)\(request.path)?\(next.encoded)"
        }
        return response
    }

    /// Adds an object; if the id is taken, returns the existing object unchanged.
    private mutating func create() throws(KintoFailure) -> HTTPResponse {
        let body = try KintoBody(request)
        let id = body.data?["id"]?.string ?? Identifier.uuid()
        guard KintoPath.isValid(id) else {
            throw .invalid("path: Invalid object id", location: "path", name: nil, description: "Invalid object id")
        }
        if let existing = store.object(id, in: path.list) {
            try checkUnmodified(existing)
            return answer(existing)
        }
        try checkUnmodified(nil)
        return try save(body, id: id, existing: nil)
    }

    /// Deletes the objects that match the filters.
    private mutating func deleteList() throws(KintoFailure) -> HTTPResponse {
        let query = try KintoQuery(request.query)
        let timestamp = store.timestamp(of: path.list, now: request.receivedAt)
        try checkExisting(timestamp, nil)
        let (page, _) = query.page(of: query.select(from: store.objects(in: path.list)))
        let tombstones = page.compactMap { $0["id"]?.string }.map { id in
            JSONValue.object(store.delete(id, in: path.list, now: request.receivedAt))
        }
        return answer(["data": .array(tombstones)], store.timestamp(of: path.list, now: request.receivedAt))
    }

    // MARK: Objects

    /// Answers an object.
    private func get(_ id: String) throws(KintoFailure) -> HTTPResponse {
        let object = try existing(id)
        if let response = try conditional(Self.timestamp(of: object), existing: object.data) { return response }
        var response = answer(object)
        response.headers["Cache-Control"] = "no-cache, no-store"
        return response
    }

    /// Creates or replaces an object.
    private mutating func put(_ id: String) throws(KintoFailure) -> HTTPResponse {
        let existing = store.object(id, in: path.list)
        try checkUnmodified(existing)
        return try save(try KintoBody(request), id: id, existing: existing)
    }

    /// Changes the given fields.
    private mutating func patch(_ id: String) throws(KintoFailure) -> HTTPResponse {
        let existing = try existing(id)
        try checkUnmodified(existing)
        var body = try KintoBody(request)
        guard body.data != nil || body.permissions != nil else {
            throw .invalid("Provide at least one of data or permissions", location: "body", name: "data")
        }
        let changes = body.data
        if request.mediaType == "application/merge-patch+json" {
            body.data = Self.merge(body.data ?? JSONObject(), into: existing.data, depth: 0)
        } else {
            var merged = existing.data
            for member in (body.data ?? JSONObject()).members { merged[member.name] = member.value }
            body.data = merged
        }
        if changes?["last_modified"] == nil { body.data?["last_modified"] = nil }
        let response = try save(body, id: id, existing: existing)
        guard let behavior = request.fields["Response-Behavior"]?.lowercased(), behavior != "full" else {
            return response
        }
        let stored = store.object(id, in: path.list)?.data
        let names = changes?.names.filter { behavior == "light" || stored?[$0] != changes?[$0] } ?? []
        let light = JSONObject(names.compactMap { name in stored?[name].map { (name, $0) } })
        return HTTPResponse(headers: response.headers, json: ["data": .object(light)])
    }

    /// Deletes an object and everything below it.
    private mutating func delete(_ id: String) throws(KintoFailure) -> HTTPResponse {
        try checkUnmodified(try existing(id))
        let tombstone = store.delete(id, in: path.list, now: request.receivedAt)
        return answer(["data": .object(tombstone)], tombstone["last_modified"]?.integer ?? 0)
    }

    /// The object; throws if it does not exist. A missing bucket is reported as forbidden.
    private func existing(_ id: String) throws(KintoFailure) -> KintoStore.Stored {
        guard let object = store.object(id, in: path.list) else {
            throw path.parents.isEmpty ? .forbidden : .missing(id, path.resource)
        }
        return object
    }

    /// Stores an object.
    private mutating func save(
        _ body: KintoBody,
        id: String,
        existing: KintoStore.Stored?
    ) throws(KintoFailure) -> HTTPResponse {
        if let given = body.data?["id"], given != .string(id) {
            throw .invalid("Object id does not match existing object", location: "body", name: "id")
        }
        guard existing != nil || !store.isFull else {
            throw KintoFailure(status: 507, errno: 121, message: "There was not enough space to save the resource")
        }
        var permissions = existing?.permissions ?? JSONObject()
        for member in body.permissions?.members ?? [] { permissions[member.name] = member.value }
        let own = KintoVendor.permissions(of: user)["write"]?.array ?? []
        var writers = permissions["write"]?.array ?? []
        for principal in own where !writers.contains(principal) { writers.append(principal) }
        permissions["write"] = .array(writers)
        let data = body.data ?? (request.method == "PATCH" ? existing?.data : nil) ?? JSONObject()
        let stored = store.put(data, permissions: permissions, id: id, in: path.list, now: request.receivedAt)
        var response = answer(stored)
        response.status = existing == nil ? 201 : 200
        return response
    }

    /// Applies a JSON merge patch (RFC 7396); `null` removes a member.
    private static func merge(_ patch: JSONObject, into target: JSONObject, depth: Int) -> JSONObject {
        var merged = target
        for member in patch.members {
            switch member.value {
            case .null: merged[member.name] = nil
            case .object(let inner) where depth < 32:
                let old = merged[member.name]?.object ?? JSONObject()
                merged[member.name] = .object(merge(inner, into: old, depth: depth + 1))
            default: merged[member.name] = member.value
            }
        }
        return merged
    }
}
