// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Keeps files as objects in a bucket of Amazon S3, or of a server that speaks its protocol.
///
/// A file of one part is put with one request, which carries its digest. A larger file is a multipart upload, whose digest is not yet known
/// when its metadata is set, so S3 never reports it.
final class S3: FilesPlugin {
    private let requests: S3Requests
    private let connection: S3Connection
    private let host: Host
    private let bucket: String
    private let uploads = Mutex<[String: S3Upload]>([:])

    /// The most uploads at once; each may hold one part in memory.
    private static let uploadLimit = 32
    /// How long an upload may be idle, in nanoseconds, before a new upload displaces it: its caller may have given up
    /// without aborting it. One that cannot be completed is displaced sooner if there is no room.
    private static let patience: UInt64 = 3_600_000_000_000

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        bucket = try configuration.string("bucket")
        requests = try S3Requests(
            endpoint: try configuration.url("endpoint"),
            bucket: bucket,
            isVirtualHost: try configuration.boolean("virtualHost")
        )
        let region = try configuration.string("region")
        guard !region.isEmpty, region.utf8.allSatisfy(\.isUnreserved) else {
            throw PluginError(.invalid, "region must be a name such as eu-central-1", domain: "s3")
        }
        let signature = S3Signature(
            region: region,
            accessKey: try configuration.secret("accessKey"),
            secretKey: try configuration.secret("secretKey"),
            sessionToken: configuration.optionalSecret("sessionToken")
        )
        connection = S3Connection(host: host, signature: signature, bucket: bucket)
    }

    /// Lists one file. The credentials are proved only if the bucket refuses the same request without them; a failure
    /// of that request does not fail the opening.
    func open() async throws -> [Evidence] {
        do throws(PluginError) {
            try await connection.checkBucket(requests)
        } catch {
            var error = error
            // Nothing says that there has ever been such a bucket.
            if error.detail == 404, error.status == .unavailable { error.status = .notFound }
            throw error
        }
        // Cloudflare's R2 refuses anonymous requests with 400.
        let stranger = await host.http.sendForEvidence(requests.listOfOne)
        return switch stranger?.status {
        case 200: [.reachable("the bucket \(bucket) is listed without checking credentials")]
        case 400, 401, 403: [.authenticated("the bucket \(bucket) is listed for these credentials")]
        default: [.reachable("the bucket \(bucket) is listed")]
        }
    }

    /// Ends the uploads under way.
    func close() async {
        let ended = uploads.withLock { uploads in
            defer { uploads = [:] }
            return uploads.values.map(\.self)
        }
        for upload in ended { try? await upload.abort() }
    }

    func head(_ path: String) async throws -> FileEntry {
        guard let response = try await connection.response(to: requests.head(path), accepting: [200]) else {
            throw Self.missing(path)
        }
        let fields = response.headers
        guard let size = fields["Content-Length"].flatMap({ UInt64($0) }), size <= UInt64(Int64.max),
            let modified = fields["Last-Modified"].flatMap({ Timestamp(httpDate: $0) }),
            let tag = EntityTag.tag(fields["ETag"])
        else {
            throw connection.violation("the answer has no valid Content-Length, Last-Modified and ETag", response)
        }
        let digest = fields[S3Requests.digestField].flatMap { digest in
            (try? FileEntry.checkDigest(digest)).map { digest }
        }
        return FileEntry(
            path: path,
            size: size,
            modified: modified,
            tag: tag,
            contentType: fields["Content-Type"],
            digest: digest
        )
    }

    func list(prefix: String, after: String, limit: Int) async throws -> FilePage {
        let selection = FileSelection(prefix: prefix, after: after)
        var (files, after): ([FileEntry], String) = ([], after)
        while true {
            let document = try await connection.document(
                S3Page.name,
                of: requests.list(prefix: prefix, after: after, limit: limit)
            )
            let page = try S3Page(document)
            for object in page.objects {
                // Without this check, a list that continues from here might never end.
                guard selection.includes(object.key), after.utf8.lexicographicallyPrecedes(object.key.utf8) else {
                    throw PluginError(
                        .protocolViolation,
                        "the list after \"\(after.prefix(40))\" has \"\(object.key.prefix(40))\"",
                        domain: "s3"
                    )
                }
                after = object.key
                // Other programs store keys that are not paths, such as those of empty folders.
                if let file = object.file { files.append(file) }
            }
            if !page.isTruncated || files.count >= limit {
                let hasMore = page.isTruncated || files.count > limit
                return FilePage(files: Array(files.prefix(limit)), hasMore: hasMore && !files.isEmpty)
            }
            guard !page.objects.isEmpty else {
                throw PluginError(.protocolViolation, "an empty page of a list is not its last", domain: "s3")
            }
            if Deadline.isHalfOver {
                guard files.isEmpty else { return FilePage(files: files, hasMore: true) }
                throw PluginError(
                    .timedOut,
                    "the list has too many keys that are not file paths; in time it reached only \"\(after.prefix(40))\"",
                    domain: "s3"
                )
            }
        }
    }

    func get(_ path: String, from offset: UInt64, count: Int, tag: String?) async throws -> [UInt8] {
        if let tag { try Self.check(tag) }
        let request = requests.get(path, from: offset, count: count, tag: tag)
        guard let response = try await connection.response(to: request, accepting: [200, 206, 412, 416]) else {
            throw Self.missing(path)
        }
        switch response.status {
        case 412: throw Self.changed(path)
        case 416:
            guard let tag else { return [] }
            // That the part lies past the end says nothing about the version.
            let found = try await head(path)
            guard found.tag == tag else { throw Self.changed(path) }
            guard offset >= found.size else {
                throw connection.violation("the server refuses byte \(offset) of \"\(path)\", which has more", response)
            }
            return []
        default: break
        }
        guard let found = EntityTag.tag(response.headers["ETag"]) else {
            throw connection.violation("the answer has no ETag", response)
        }
        if let tag, tag != found { throw Self.changed(path) }
        return try response.part(from: offset, count: count, vendor: "s3")
    }

    func createUpload(_ request: FileUploadRequest) async throws -> FileUpload {
        if case .tag(let tag) = request.condition { try Self.check(tag) }
        // In a signed header, these would begin or end a placeholder.
        let contentType = Array((request.contentType ?? "").utf8)
        guard !contentType.contains("{{".utf8), !contentType.contains("}}".utf8) else {
            throw PluginError(
                .invalid,
                "the content type has two braces in a row, which no media type has",
                domain: "s3"
            )
        }
        let (id, now) = (RandomIdentifier.uuid(), host.clock.monotonic)
        let upload = S3Upload(id, request, requests, connection)
        let idle = try uploads.withLock { uploads throws(PluginError) in
            var idle = uploads.filter { $0.value.usedAt + Self.patience <= now }
            if idle.isEmpty, uploads.count >= Self.uploadLimit {
                let failed = uploads.filter { $0.value.hasFailed }.min { $0.value.usedAt < $1.value.usedAt }
                if let failed { idle[failed.key] = failed.value }
            }
            for id in idle.keys { uploads[id] = nil }
            guard uploads.count < Self.uploadLimit else {
                throw PluginError(
                    .rateLimited,
                    "\(Self.uploadLimit) uploads are under way; complete or abort one first"
                )
            }
            upload.use(at: now)
            uploads[id] = upload
            return idle.values.map(\.self)
        }
        for upload in idle { try? await upload.abort() }
        return FileUpload(id: id, partSize: S3Upload.partSize)
    }

    func uploadPart(_ content: [UInt8], of upload: String, at offset: UInt64) async throws {
        let upload = try self.upload(upload)
        upload.use(at: host.clock.monotonic)
        try await upload.add(content, at: offset)
    }

    func completeUpload(_ id: String, size: UInt64, digest: String?) async throws -> FileEntry {
        let upload = try upload(id)
        upload.use(at: host.clock.monotonic)
        try await upload.complete(size: size, digest: digest)
        // If this fails, the caller can repeat the call.
        let entry = try await head(upload.request.path)
        uploads.withLock { $0[id] = nil }
        return entry
    }

    func abortUpload(_ id: String) async throws {
        guard let upload = uploads.withLock({ $0[id] }) else { return }
        try await upload.abort()
        uploads.withLock { $0[id] = nil }
    }

    func remove(_ path: String) async throws {
        _ = try await connection.response(to: requests.remove(path), accepting: [204])
    }

    /// Copies a file in one step, which S3 allows for at most 5 GiB.
    func copy(_ source: String, to destination: String) async throws -> FileEntry {
        // S3 refuses to copy a file to itself.
        if !source.utf8.elementsEqual(destination.utf8) {
            _ = try await connection.document("CopyObjectResult", of: requests.copy(source, to: destination))
        }
        return try await head(destination)
    }

    private func upload(_ id: String) throws(PluginError) -> S3Upload {
        guard let upload = uploads.withLock({ $0[id] }) else {
            throw PluginError(
                .notFound,
                "there is no upload \"\(id.prefix(40))\"; it may have ended, or the gate closed"
            )
        }
        return upload
    }

    private static func check(_ tag: String) throws(PluginError) {
        guard EntityTag.field(tag) != nil else {
            throw PluginError(.invalid, "\"\(tag.prefix(40))\" is no tag that the server gave", domain: "s3")
        }
    }

    private static func missing(_ path: String) -> PluginError {
        PluginError(.notFound, "there is no file \"\(path)\"", domain: "s3")
    }

    private static func changed(_ path: String) -> PluginError {
        PluginError(.conflict, "\"\(path)\" has changed since it had the tag", domain: "s3")
    }
}
