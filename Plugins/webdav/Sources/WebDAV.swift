// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Keeps files in a collection of a WebDAV server (RFC 4918).
///
/// WebDAV cannot put a file in parts, so a small file is collected in memory, and a larger one is the body of one request, which lasts as
/// long as the upload. The content is put beside the files, under a temporary name, and then moved to its place: readers see the old file
/// or the new one, even if the server writes in place. What the server does not keep about a file, above all its digest, is in a
/// ``WebDAVStamp``.
final class WebDAV: FilesPlugin {
    private let requests: WebDAVRequests
    private let connection: WebDAVConnection
    private let host: Host
    private let leftovers: WebDAVLeftovers
    private let uploads = Mutex<[String: WebDAVUpload]>([:])
    private let paths = PathMutex()

    /// The stamp of a file under a temporary name, and the size that it must have; nil if that is unknown.
    private typealias Made = (stamp: WebDAVStamp, size: UInt64?)

    /// The most uploads at once; each large one holds a connection.
    private static let uploadLimit = 256
    /// The most bytes that all uploads under way keep in memory.
    private static let memoryLimit = 256 << 20
    /// How long an upload may be idle, in nanoseconds, before a new upload displaces it: its caller may have given up
    /// without aborting it.
    private static let patience: UInt64 = 3_600_000_000_000

    init(configuration: PluginConfiguration, host: Host) throws {
        requests = WebDAVRequests(
            endpoint: try configuration.url("endpoint"),
            username: configuration.optionalString("username"),
            password: configuration.optionalSecret("password")
        )
        guard !requests.endpoint.description.utf8.contains(UInt8(ascii: "?")) else {
            throw PluginError(.invalid, "endpoint must be a URL without a query")
        }
        self.host = host
        connection = WebDAVConnection(host: host, requests: requests)
        leftovers = WebDAVLeftovers(host: host, requests: requests, connection: connection)
    }

    /// Reads the collection. Credentials are proved only if the server refuses the same request without them; a failure
    /// of that request does not fail the opening. Removes what earlier uploads have left.
    func open() async throws -> [Evidence] {
        guard try await connection.find("")?.isCollection == true else {
            throw PluginError(
                .notFound,
                "there is no collection at \(requests.endpoint); make it, or correct endpoint",
                domain: "webdav"
            )
        }
        guard let username = requests.username else {
            await leftovers.clean()
            return [.reachable("the server serves the collection to anyone")]
        }
        let stranger = await host.http.sendForEvidence(requests.find("", depth: 0, isAnonymous: true))
        // A server that is slow has no time for it.
        if stranger != nil { await leftovers.clean() }
        return switch stranger?.status {
        case 207: [.reachable("the server serves the collection without checking credentials")]
        case 401, 403: [.authenticated("the server shows the collection to \(username)")]
        default: [.reachable("the server shows the collection")]
        }
    }

    /// Ends the uploads under way.
    func close() async {
        let left = uploads.withLock { uploads in
            defer { uploads = [:] }
            return uploads.values
        }
        for upload in left { await upload.abort() }
    }

    func head(_ path: String) async throws -> FileEntry {
        try await file(path).entry()
    }

    func list(prefix: String, after: String, limit: Int) async throws -> FilePage {
        var listing = WebDAVListing(connection, FileSelection(prefix: prefix, after: after), limit: limit)
        return try await listing.page()
    }

    func get(_ path: String, from offset: UInt64, count: Int, tag: String?) async throws -> [UInt8] {
        let tag = try tag.map { tag throws(PluginError) in try Self.checked(tag) }
        let request = requests.get(path, from: offset, count: count)
        let response = try await connection.send(request, accepting: Array(200..<400) + [403, 404, 405, 410, 416, 501])
        switch response.status {
        case 200, 206: break
        case 404, 410:
            try await connection.checkEndpoint()
            throw Self.missing(path)
        case 416:
            guard let tag else { return [] }
            // That the part lies past the end says nothing about the version.
            let found = try await file(path)
            guard found.tag == tag else { throw Self.changed(path) }
            guard found.size.map({ offset < $0 }) != true else {
                throw connection.violation("the server refuses byte \(offset) of \"\(path)\", which has more", response)
            }
            return []
        default:
            // Some servers answer so about a collection, which is no file.
            if (try? await connection.find(path))?.isCollection == true { throw Self.missing(path) }
            throw connection.failure(response, to: request)
        }
        guard let found = EntityTag.tag(response.headers["ETag"]) else {
            // This may not be a file: a server may answer with a page about a collection.
            _ = try await file(path).entry()
            throw connection.violation(
                "the answer to GET has no ETag; the server must give entity tags, as lighttpd does for every name to which "
                    + "mimetype.assign gives a media type",
                response
            )
        }
        if let tag, tag != EntityTag.opaque(found) { throw Self.changed(path) }
        // Without a tag, nobody has found the file: below a file, lighttpd answers with that one's content.
        if tag == nil, path.utf8.contains(UInt8(ascii: "/")) { _ = try await file(path) }
        return try response.part(from: offset, count: count, vendor: "webdav")
    }

    func createUpload(_ request: FileUploadRequest) async throws -> FileUpload {
        try Self.check(request)
        let (id, now) = (RandomIdentifier.uuid(), host.clock.monotonic)
        let upload = WebDAVUpload(request, requests, connection, leftovers, at: now)
        let forgotten = try uploads.withLock { uploads throws(PluginError) in
            let forgotten = uploads.filter { $0.value.usedAt + Self.patience <= now }
            for id in forgotten.keys { uploads[id] = nil }
            guard uploads.count < Self.uploadLimit else {
                throw PluginError(
                    .rateLimited,
                    "\(Self.uploadLimit) uploads are under way; complete or abort one first"
                )
            }
            uploads[id] = upload
            return forgotten.values
        }
        for upload in forgotten { await upload.abort() }
        return FileUpload(id: id, partSize: WebDAVUpload.partSize)
    }

    func uploadPart(_ content: [UInt8], of upload: String, at offset: UInt64) async throws {
        let state = try uploads.withLock { uploads throws(PluginError) in
            let count = uploads.values.reduce(content.count) { $0 + $1.memory }
            guard count <= Self.memoryLimit else {
                throw PluginError(
                    .rateLimited,
                    "the uploads under way keep more than \(Self.memoryLimit >> 20) MiB; complete or abort one first"
                )
            }
            guard let state = uploads[upload] else { throw Self.noUpload(upload) }
            return state
        }
        try await state.add(content, at: offset, now: host.clock.monotonic)
    }

    func completeUpload(_ upload: String, size: UInt64, digest: String?) async throws -> FileEntry {
        guard let state = uploads.withLock({ $0[upload] }) else { throw Self.noUpload(upload) }
        try state.begin(at: host.clock.monotonic)
        defer { state.end() }
        let found = try state.checkedDigest(size: size, digest: digest)
        let known = state.tag
        do throws(PluginError) {
            let tag: String
            if let known {
                tag = known
            } else {
                tag = try await make(state.request, at: state.temporary) { () throws(PluginError) in
                    try await state.putContent()
                    return (WebDAVStamp(contentType: state.request.contentType, digest: found), size)
                }
                state.setTag(tag)
            }
            let entry = try await paths.withLock(at: state.request.path) { () throws(PluginError) in
                try state.check()
                return try await place(state.temporary, tag, state.request, isAgain: known != nil)
            }
            uploads.withLock { $0[upload] = nil }
            return entry
        } catch {
            await state.endAttempt(after: error)
            // The content of a large file is gone with its temporary path.
            if !state.canComplete { uploads.withLock { $0[upload] = nil } }
            throw error
        }
    }

    func abortUpload(_ upload: String) async throws {
        await uploads.withLock { $0.removeValue(forKey: upload) }?.abort()
    }

    /// Removes a file. Collections that this leaves empty stay: removing one could remove a file that was just put
    /// there.
    func remove(_ path: String) async throws {
        try WebDAVRequests.checkName(path)
        guard let found = try await connection.find(path) else { return try await connection.checkEndpoint() }
        guard !found.isCollection else { return }
        try await connection.send(requests.delete(path), accepting: [204, 404])
    }

    func copy(_ source: String, to destination: String) async throws -> FileEntry {
        let request = FileUploadRequest(destination)
        try Self.check(request)
        let before = try await file(source)
        let temporary = WebDAVRequests.temporaryPath
        do throws(PluginError) {
            let tag = try await make(request, at: temporary) { [connection, requests] () throws(PluginError) in
                try await connection.sendMakingParents(
                    requests.copy(source, to: temporary),
                    of: temporary,
                    accepting: [201, 204]
                )
                guard try await connection.find(source)?.tag == before.tag else {
                    throw PluginError(.conflict, "\"\(source)\" changed while it was copied", domain: "webdav")
                }
                return (WebDAVStamp(contentType: before.knownContentType, digest: before.knownDigest), before.size)
            }
            return try await paths.withLock(at: destination) { () throws(PluginError) in
                try await place(temporary, tag, request, isAgain: false)
            }
        } catch {
            await leftovers.remove(temporary)
            throw error
        }
    }

    // MARK: Placing

    /// Makes a file under a temporary name if the condition is met, and adds its stamp.
    ///
    /// - Returns: Its tag.
    private func make(
        _ request: FileUploadRequest,
        at temporary: String,
        _ make: () async throws(PluginError) -> Made
    ) async throws(PluginError) -> String {
        try await checkPlace(request)
        let made = try await make()
        var stamp = made.stamp
        stamp.tag = try await tag(of: temporary, size: made.size)
        try await connection.set(stamp, of: temporary)
        return stamp.tag
    }

    /// The tag of a file under its temporary name.
    ///
    /// - Throws: `protocolViolation` if the file has another size: PHP behind FastCGI mistakes a chunked body for an
    ///   empty one, and answers 201.
    private func tag(of temporary: String, size: UInt64?) async throws(PluginError) -> String {
        guard let found = try await connection.find(temporary) else {
            throw PluginError(
                .unavailable,
                "the server lost what it was sent; try again",
                isRetryable: true,
                domain: "webdav"
            )
        }
        if let size, let kept = found.size, kept != size {
            throw PluginError(
                .protocolViolation,
                "the server has \(kept) of the file's \(size) bytes; a server behind FastCGI needs request buffering "
                    + "for chunked bodies, those of files above \(WebDAVUpload.memoryLimit >> 20) MiB: "
                    + "in nginx, fastcgi_request_buffering on",
                isRetryable: false,
                domain: "webdav"
            )
        }
        guard let tag = found.tag else { throw found.missingProperty("getetag") }
        return tag
    }

    /// Checks the condition of a request, and that no collection would be replaced.
    ///
    /// - Returns: The resource at the path; nil if there is none.
    @discardableResult
    private func checkPlace(_ request: FileUploadRequest) async throws(PluginError) -> WebDAVResource? {
        let found = try await connection.find(request.path)
        if found?.isCollection == true {
            throw PluginError(.conflict, "there is a collection at \"\(request.path)\"", domain: "webdav")
        }
        switch request.condition {
        case .any: break
        case .absent: if found != nil { throw Self.unmet(request) }
        case .tag(let tag):
            if found == nil { try await connection.checkEndpoint() }
            if found?.tag != EntityTag.opaque(tag) { throw Self.unmet(request) }
        }
        return found
    }

    /// Moves a file to its place, unless it already is there.
    ///
    /// - Parameters:
    ///   - tag: Its tag.
    ///   - isAgain: Whether an earlier move may have done so, although its answer was lost.
    private func place(
        _ temporary: String,
        _ tag: String,
        _ request: FileUploadRequest,
        isAgain: Bool
    ) async throws(PluginError) -> FileEntry {
        do throws(PluginError) {
            try await move(temporary, to: request)
        } catch {
            guard isAgain || error.isRetryable, (try? await isInPlace(temporary, tag, request)) == true else {
                throw error
            }
        }
        return try await file(request.path).entry()
    }

    /// Whether a file is in its place: nothing is at its temporary path any more, and what is at its path has its tag.
    private func isInPlace(
        _ temporary: String,
        _ tag: String,
        _ request: FileUploadRequest
    ) async throws(PluginError) -> Bool {
        guard try await connection.find(temporary) == nil else { return false }
        return try await connection.find(request.path)?.tag == tag
    }

    /// Moves a file to its place if the condition is still met.
    private func move(_ temporary: String, to request: FileUploadRequest) async throws(PluginError) {
        // Check again, because sending the content may have taken long, and not every server checks tags in a move.
        let found = try await checkPlace(request)
        var status = try await move(temporary, request, over: found, if: found?.condition)
        // Servers in Go, such as rclone, know only locks in `If`, and refuse every tag: for them, the check alone counts. Where nothing
        // was found, a file may have come meanwhile; if there still is none, the server takes the path for another one, whose content
        // must stay.
        if status == 412, request.condition != .absent, let found = try await checkPlace(request) {
            status = try await move(temporary, request, over: found, if: nil)
        }
        if status == 412 { throw Self.unmet(request) }
    }

    /// Moves a file to its place, where a file was found or none.
    ///
    /// - Returns: The status: 201, 204 or 412.
    private func move(
        _ temporary: String,
        _ request: FileUploadRequest,
        over found: WebDAVResource?,
        if condition: String?
    ) async throws(PluginError) -> Int {
        let move = requests.move(temporary, to: request, isReplacement: found != nil, if: condition)
        return try await connection.sendMakingParents(move, of: request.path, accepting: [201, 204, 412]).status
    }

    // MARK: Checking

    private func file(_ path: String) async throws(PluginError) -> WebDAVResource {
        try WebDAVRequests.checkName(path)
        guard let found = try await connection.find(path) else {
            try await connection.checkEndpoint()
            throw Self.missing(path)
        }
        guard !found.isCollection else { throw Self.missing(path) }
        return found
    }

    private static func check(_ request: FileUploadRequest) throws(PluginError) {
        try WebDAVRequests.checkName(request.path)
        if case .tag(let tag) = request.condition { _ = try checked(tag) }
        // In a header, braces would be read as a placeholder.
        guard request.contentType?.contains("{{") != true else {
            throw PluginError(.invalid, "the content type has \"{{\", which no media type has", domain: "webdav")
        }
    }

    private static func checked(_ tag: String) throws(PluginError) -> String {
        guard EntityTag.field(tag) != nil else {
            throw PluginError(.invalid, "\"\(tag.prefix(40))\" is not a tag that the server gave", domain: "webdav")
        }
        return EntityTag.opaque(tag)
    }

    private static func missing(_ path: String) -> PluginError {
        PluginError(.notFound, "there is no file \"\(path)\"", domain: "webdav")
    }

    private static func changed(_ path: String) -> PluginError {
        PluginError(.conflict, "\"\(path)\" has changed since it had the tag", domain: "webdav")
    }

    private static func unmet(_ request: FileUploadRequest) -> PluginError {
        let words =
            switch request.condition {
            case .any: "the server finds something at \"\(request.path)\", but shows nothing there"
            case .absent: "there is a file \"\(request.path)\" already"
            case .tag: "\"\(request.path)\" no longer has the tag"
            }
        return PluginError(.conflict, words, domain: "webdav")
    }

    private static func noUpload(_ id: String) -> PluginError {
        PluginError(.notFound, "there is no upload \"\(id.prefix(40))\"; it may have ended, or the gate closed")
    }
}
