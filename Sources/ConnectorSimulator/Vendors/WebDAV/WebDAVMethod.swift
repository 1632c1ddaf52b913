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
            try checkConditions(try resource())
            store.remove(path)
            return HTTPResponse(status: 204)
        case "MKCOL":
            guard request.body.isEmpty else { throw WebDAVFailure(415) }
            guard store[path] == nil else { throw WebDAVFailure(405, "the resource exists") }
            guard store.hasParent(path) else { throw WebDAVFailure(409, "the parent is not a collection") }
            store.makeCollection(path, at: request.receivedAt)
            return HTTPResponse(status: 201)
        case "COPY", "MOVE": return try transfer()
        case "PROPFIND": return try findProperties()
        case "PROPPATCH": return try setProperties()
        default: throw WebDAVFailure(405)
        }
    }

    private static let methods = "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH"

    private func resource() throws(WebDAVFailure) -> WebDAVStore.Resource {
        guard let resource = store[path] else { throw WebDAVFailure(404) }
        return resource
    }

    /// Throws if `If-Match` or `If-None-Match` is not met (RFC 9110, section 13.1).
    private func checkConditions(_ resource: WebDAVStore.Resource?) throws(WebDAVFailure) {
        func names(_ field: String) -> Bool {
            field == "*"
                ? resource != nil : field.split(ascii: ",").contains { $0.trimmingBlanks() == resource?.tag }
        }
        if let field = request.fields["If-Match"], !names(field) { throw WebDAVFailure(412) }
        if let field = request.fields["If-None-Match"], names(field) { throw WebDAVFailure(412) }
    }

    // MARK: Content

    private func get() throws(WebDAVFailure) -> HTTPResponse {
        let resource = try resource()
        guard let content = resource.content else {
            return HTTPResponse(text: "<html><body>a collection</body></html>", type: "text/html")
        }
        try checkConditions(resource)
        return HTTPResponse(
            status: 200,
            headers: [
                "ETag": resource.tag, "Last-Modified": resource.modified.httpDate, "Accept-Ranges": "bytes",
                "Content-Type": resource.contentType ?? "application/octet-stream",
            ],
            body: content
        ).part(request.fields["Range"])
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
        try checkConditions(try resource())
        guard let destination = request.fields["Destination"].flatMap({ URLParts($0) }),
            destination.rest.hasPrefix(request.prefix + "/")
        else { throw WebDAVFailure(502, "the destination is not a URL of this server") }
        let target = destination.rest.dropFirst(request.prefix.count).split(ascii: "/")
            .map { ExactText(PercentCoding.decode($0)) }
        guard target != path, !path.starts(with: target), !target.starts(with: path) else { throw WebDAVFailure(403) }
        guard store.hasParent(target) else { throw WebDAVFailure(409, "the parent is not a collection") }
        let found = store[target]
        if request.fields["Overwrite"] == "F", found != nil { throw WebDAVFailure(412, "the destination exists") }
        try checkDestination(found)
        if request.method == "COPY" {
            store.copy(path, to: target, withMembers: request.fields["Depth"] != "0")
        } else {
            store.move(path, to: target)
        }
        return HTTPResponse(status: found == nil ? 201 : 204)
    }

    /// Throws if the `If` field, `<URL> (["tag"])`, does not name the destination's tag (RFC 4918, section 10.4).
    private func checkDestination(_ found: WebDAVStore.Resource?) throws(WebDAVFailure) {
        guard let field = request.fields["If"] else { return }
        let tags = field.split(ascii: "[").dropFirst().map { $0.prefix { $0 != "]" } }
        guard let found, tags.contains(where: { $0 == found.tag }) else { throw WebDAVFailure(412) }
    }

    // MARK: Properties

    private func findProperties() throws(WebDAVFailure) -> HTTPResponse {
        let resource = try resource()
        let depth = request.fields["Depth"] ?? "infinity"
        guard depth == "0" || depth == "1" else { throw WebDAVFailure(403, "the depth must be 0 or 1") }
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
        let document = try document("propertyupdate")
        let changes = document.children.filter { ["set", "remove"].contains($0.name) }.flatMap { change in
            (change["prop"]?.children ?? []).map {
                WebDAVStore.Change(property: $0, isRemoval: change.name == "remove")
            }
        }
        guard changes.allSatisfy({ $0.property.namespace != "DAV:" }) else { throw WebDAVFailure(409) }
        for change in changes { store.make(change, at: path) }
        let names = changes.map(\.property).reduce(into: [XMLElement]()) { names, property in
            if !names.contains(where: property.hasName(of:)) { names.append(property) }
        }
        return Self.multistatus(WebDAVProperties(resource, at: path, request).response(names, withValues: false))
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
