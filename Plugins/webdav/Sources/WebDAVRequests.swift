// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to a WebDAV server (RFC 4918).
struct WebDAVRequests {
    /// The collection with the files.
    let endpoint: HTTPURL
    /// The user; nil if no credentials are sent.
    let username: String?
    private let authorization: String?

    /// The name of the collection for content that is not in place yet. No file can be put there.
    static let uploadsName = ".connector-uploads"

    init(endpoint: HTTPURL, username: String?, password: SecretPlaceholder?) {
        self.endpoint = endpoint
        self.username = username
        authorization = username.map {
            SecretPlaceholder.basicCredentials(user: $0, password: password?.text ?? "")
        }
    }

    /// The path of the collection in URLs, without a trailing slash.
    var path: String { String(endpoint.description.dropFirst(endpoint.origin.count)) }

    /// A new path for content that is not in place yet.
    static var temporaryPath: String { "\(uploadsName)/\(RandomIdentifier.uuid())" }

    /// Throws if a path belongs to the collection of uploads.
    static func checkName(_ path: String) throws(PluginError) {
        guard segments(of: path).first != uploadsName else {
            throw PluginError(
                .invalid,
                "\"\(uploadsName)\" is the adapter's own; use another name",
                domain: "webdav"
            )
        }
    }

    /// The names in a path. Splits by bytes, because to Swift a slash with an accent after it is a different character.
    static func segments(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Requests

    /// A request for the properties of a path, and of the members of a collection if the depth is 1.
    ///
    /// - Parameter isCollection: Whether to ask for the path as a collection, with a trailing slash, even if the depth
    ///   is 0.
    func find(
        _ path: String,
        depth: Int,
        isCollection: Bool = false,
        isAnonymous: Bool = false
    ) -> HTTPRequest {
        var request = request(.propfind, path, isCollection: isCollection || depth > 0 || path.isEmpty)
        request.headers["Depth"] = "\(depth)"
        if isAnonymous { request.headers["Authorization"] = nil }
        let properties = ["resourcetype", "getcontentlength", "getlastmodified", "getetag", "getcontenttype"]
            .map { "<\($0)/>" }.joined()
        let file = #"<file xmlns="\#(WebDAVStamp.namespace)"/>"#
        return request.with(xml: #"<propfind xmlns="DAV:"><prop>\#(properties)\#(file)</prop></propfind>"#)
    }

    /// A request for a part of a file. It omits `If-Match`, which no weak tag satisfies (RFC 9110, section 13.1.1); the caller checks the
    /// answer's tag.
    func get(_ path: String, from offset: UInt64, count: Int) -> HTTPRequest {
        var request = request(.get, path)
        request.headers["Range"] = "bytes=\(offset)-\(offset + UInt64(count) - 1)"
        // A range of a compressed answer would be a range of other bytes.
        request.headers["Accept-Encoding"] = "identity"
        return request
    }

    func put(_ content: [UInt8], at path: String, contentType: String?) -> HTTPRequest {
        var request = request(.put, path)
        request.headers["Content-Type"] = contentType ?? "application/octet-stream"
        request.body = content
        return request
    }

    /// A request that stores a stamp as a property.
    func setStamp(_ stamp: WebDAVStamp, of path: String) -> HTTPRequest {
        let file = #"<file xmlns="\#(WebDAVStamp.namespace)">\#(XMLElement.escaped(stamp.text))</file>"#
        return request(.proppatch, path)
            .with(xml: #"<propertyupdate xmlns="DAV:"><set><prop>\#(file)</prop></set></propertyupdate>"#)
    }

    func makeCollection(_ path: String) -> HTTPRequest {
        request(.mkcol, path, isCollection: true)
    }

    func delete(_ path: String) -> HTTPRequest {
        request(.delete, path)
    }

    /// A request that copies a file to an unused path.
    func copy(_ source: String, to destination: String) -> HTTPRequest {
        var request = request(.copy, source)
        request.headers["Destination"] = url(destination).description
        request.headers["Overwrite"] = "F"
        return request
    }

    /// A request that moves a file to its place if a condition is met.
    ///
    /// - Parameters:
    ///   - isReplacement: Whether a file was found there. If none was, the server must not remove what it takes for the destination.
    ///   - tag: The tag that the file there must still have; nil for any.
    func move(
        _ source: String,
        to upload: FileUploadRequest,
        isReplacement: Bool,
        if tag: String?
    ) -> HTTPRequest {
        let destination = url(upload.path).description
        var request = request(.move, source)
        request.headers["Destination"] = destination
        request.headers["Overwrite"] = isReplacement ? "T" : "F"
        if case .tag = upload.condition, let tag { request.headers["If"] = "<\(destination)> ([\(tag)])" }
        return request
    }

    private func url(_ path: String, isCollection: Bool = false) -> HTTPURL {
        let url = Self.segments(of: path).reduce(endpoint) { $0.appending($1) }
        return isCollection ? url.appending(path: "/") : url
    }

    private func request(_ method: HTTPRequest.Method, _ path: String, isCollection: Bool = false) -> HTTPRequest {
        var request = HTTPRequest(method, url(path, isCollection: isCollection))
        request.headers["Authorization"] = authorization
        return request
    }
}

extension HTTPRequest {
    /// The request with a document as its body.
    fileprivate func with(xml document: String) -> HTTPRequest {
        var request = self
        request.headers["Content-Type"] = "application/xml; charset=utf-8"
        request.body = Array(#"<?xml version="1.0" encoding="utf-8"?>\#(document)"#.utf8)
        return request
    }
}
