// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Why a WebDAV server refuses a request.
struct WebDAVFailure: Error {
    /// The HTTP status.
    var status: Int
    /// The message; nil for the reason phrase of the status.
    var message: String?

    init(_ status: Int, _ message: String? = nil) {
        (self.status, self.message) = (status, message)
    }
}

/// Answers one request about a file or a collection.
struct WebDAVMethod {
    /// The request.
    let request: SimulatedRequest
    /// The files and collections; the request may change them.
    var store: WebDAVStore
    private let path: [ExactText]

    init(request: SimulatedRequest, store: WebDAVStore) {
        (self.request, self.store) = (request, store)
        path = request.components.map(ExactText.init)
    }

    /// Answers the request.
    mutating func respond() throws(WebDAVFailure) -> HTTPResponse {
        switch request.method {
        case "OPTIONS": return HTTPResponse(status: 200, headers: ["DAV": "1", "Allow": Self.methods])
        case "GET": return try get()
        case "PUT": return try put()
        case "DELETE":
            guard !path.isEmpty else { throw WebDAVFailure(403, "the root stays") }
            let resource = try resource()
            try checkDepth(try depth(among: ["0", "infinity"]), of: resource)
            try checkConditions(resource)
            store.remove(path)
            return HTTPResponse(status: 204)
        case "MKCOL":
            guard request.body.isEmpty else { throw WebDAVFailure(415) }
            guard store[path] == nil else { throw WebDAVFailure(405, "the resource exists") }
            guard store.hasParent(path) else { throw WebDAVFailure(409, "the parent is not a collection") }
            try checkConditions(nil)
            store.makeCollection(path, at: request.receivedAt)
            return HTTPResponse(status: 201)
        case "COPY", "MOVE": return try transfer()
        case "PROPFIND": return try findProperties()
        case "PROPPATCH": return try setProperties()
        default: throw WebDAVFailure(405)
        }
    }

    /// The methods, as in `Allow`.
    static let methods = "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH"

    private func resource() throws(WebDAVFailure) -> WebDAVStore.Resource {
        guard let resource = store[path] else { throw WebDAVFailure(404) }
        return resource
    }

    /// Throws unless the conditions of a change are met: those of RFC 9110, and `If` (RFC 4918, section 10.4).
    private func checkConditions(_ resource: WebDAVStore.Resource?) throws(WebDAVFailure) {
        if let status = refusal(of: resource) { throw WebDAVFailure(status) }
        guard let field = request.fields["If"] else { return }
        let holds = WebDAVConditions.hold(field) { url in
            guard let url else { return resource?.tag }
            return place(of: url).flatMap { store[$0]?.tag }
        }
        guard let holds else { throw WebDAVFailure(400, "the field If is malformed") }
        if !holds { throw WebDAVFailure(412) }
    }

    private func refusal(of resource: WebDAVStore.Resource?) -> Int? {
        let tag = resource?.isCollection == false ? resource?.tag : nil
        return request.refusal(tag: tag, modified: resource?.modified)
    }

    /// The path that a URL of this server or its path names; nil for any other text.
    private func place(of url: String) -> [ExactText]? {
        var path = url
        if !url.starts(ascii: "/") {
            guard let parts = URLParts(url) else { return nil }
            if let host = request.fields["Host"], let own = URLParts("http://\(host)"),
                (own.host, own.effectivePort) != (parts.host, parts.effectivePort)
            {
                return nil
            }
            path = parts.rest
        }
        guard path.hasPrefix(request.prefix + "/") else { return nil }
        return path.dropFirst(request.prefix.count).split(ascii: "/").map { ExactText(PercentCoding.decode($0)) }
    }

    /// The field `Depth`, `infinity` if there is none (RFC 4918, section 10.2); throws unless it is known.
    private func depth(among known: [String]) throws(WebDAVFailure) -> String {
        let depth = request.fields["Depth"]?.lowercased() ?? "infinity"
        guard known.contains(depth) else {
            throw WebDAVFailure(400, "the depth must be \(known.joined(separator: " or "))")
        }
        return depth
    }

    /// Throws if the request would move or remove only a part of a collection (RFC 4918, sections 9.6.1 and 9.9.2).
    private func checkDepth(_ depth: String, of resource: WebDAVStore.Resource) throws(WebDAVFailure) {
        guard resource.isCollection, depth != "infinity" else { return }
        throw WebDAVFailure(400, "the depth must be infinity for a collection")
    }

    // MARK: Content

    private func get() throws(WebDAVFailure) -> HTTPResponse {
        let resource = try resource()
        guard let content = resource.content else {
            return HTTPResponse(text: "<html><body>a collection</body></html>", type: "text/html")
        }
        switch refusal(of: resource) {
        case 304: return HTTPResponse(status: 304, headers: ["ETag": resource.tag])
        case let status?: throw WebDAVFailure(status)
        case nil: break
        }
        let modified = resource.modified.httpDate
        let response = HTTPResponse(
            status: 200,
            headers: [
                "ETag": resource.tag, "Last-Modified": modified, "Accept-Ranges": "bytes",
                "Content-Type": resource.contentType ?? "application/octet-stream",
            ],
            body: content
        )
        // A part of other content than the client has is of no use to it (RFC 9110, section 13.1.5).
        if let known = request.fields["If-Range"], known != resource.tag, known != modified { return response }
        return response.part(request.fields["Range"])
    }

    private mutating func put() throws(WebDAVFailure) -> HTTPResponse {
        let found = store[path]
        guard found?.isCollection != true else { throw WebDAVFailure(405, "this is a collection") }
        guard store.hasParent(path) else { throw WebDAVFailure(409, "the parent is not a collection") }
        try checkConditions(found)
        let put = store.put(request.body, request.fields["Content-Type"], at: path, now: request.receivedAt)
        return HTTPResponse(status: found == nil ? 201 : 204, headers: ["ETag": put.tag])
    }

    private mutating func transfer() throws(WebDAVFailure) -> HTTPResponse {
        let resource = try resource()
        let depth = try depth(among: ["0", "infinity"])
        if request.method == "MOVE" { try checkDepth(depth, of: resource) }
        try checkConditions(resource)
        guard let destination = request.fields["Destination"], !destination.starts(ascii: "/") else {
            throw WebDAVFailure(400, "the destination is not a URL")
        }
        guard let target = place(of: destination) else {
            throw WebDAVFailure(502, "the destination is not a URL of this server")
        }
        guard target != path, !path.starts(with: target), !target.starts(with: path) else { throw WebDAVFailure(403) }
        guard store.hasParent(target) else { throw WebDAVFailure(409, "the parent is not a collection") }
        let found = store[target]
        if request.fields["Overwrite"] == "F", found != nil { throw WebDAVFailure(412, "the destination exists") }
        if request.method == "COPY" {
            store.copy(path, to: target, withMembers: depth != "0")
        } else {
            store.move(path, to: target)
        }
        return HTTPResponse(status: found == nil ? 201 : 204)
    }

    // MARK: Properties

    private func findProperties() throws(WebDAVFailure) -> HTTPResponse {
        let resource = try resource()
        let depth = try depth(among: ["0", "1", "infinity"])
        guard depth != "infinity" || !resource.isCollection else {
            throw WebDAVFailure(403, "the depth must be 0 or 1")
        }
        let wanted = try request.body.isEmpty ? nil : document("propfind")
        let (names, withValues) = (wanted?["prop"]?.children, wanted?["propname"] == nil)
        let members = depth == "1" && resource.isCollection ? store.members(of: path) : []
        let responses = ([path] + members).compactMap { path in
            store[path].map { WebDAVProperties($0, at: path, request).response(names, withValues: withValues) }
        }
        return Self.multistatus(responses.joined())
    }

    private mutating func setProperties() throws(WebDAVFailure) -> HTTPResponse {
        let resource = try resource()
        try checkConditions(resource)
        let document = try document("propertyupdate")
        let changes = document.children.filter { ["set", "remove"].contains($0.name) }.flatMap { change in
            (change["prop"]?.children ?? []).map {
                WebDAVStore.Change(property: $0, isRemoval: change.name == "remove")
            }
        }
        let names = changes.map(\.property).reduce(into: [XMLElement]()) { names, property in
            if !names.contains(where: property.hasName(of:)) { names.append(property) }
        }
        let properties = WebDAVProperties(resource, at: path, request)
        // All changes are made, or none (RFC 4918, section 9.2).
        guard !names.contains(where: WebDAVProperties.isProtected) else {
            return Self.multistatus(properties.refusal(of: names))
        }
        for change in changes { store.make(change, at: path) }
        return Self.multistatus(properties.response(names, withValues: false))
    }

    private func document(_ name: String) throws(WebDAVFailure) -> XMLElement {
        guard let document = try? XMLElement(parsing: request.body), document.namespace == "DAV:", document.name == name
        else { throw WebDAVFailure(400, "the body is not <\(name)>") }
        return document
    }

    private static func multistatus(_ responses: String) -> HTTPResponse {
        HTTPResponse(
            status: 207,
            text: #"<?xml version="1.0" encoding="utf-8"?><d:multistatus xmlns:d="DAV:">\#(responses)</d:multistatus>"#,
            type: "application/xml; charset=utf-8"
        )
    }
}
