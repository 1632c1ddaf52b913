// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// An upload under way. The first part stays in memory until there is a second; then S3 gets both.
final class S3Upload: Sendable {
    /// The request that began the upload.
    let request: FileUploadRequest
    private let requests: S3Requests
    private let connection: S3Connection
    private let state = Mutex(State())

    private struct State {
        /// When a call last used the upload, in nanoseconds on the monotonic clock.
        var usedAt: UInt64 = 0
        /// Whether a call is using it now: parts must arrive one at a time.
        var isBusy = false
        var size: UInt64 = 0
        var hash = SHA256()
        /// Where the last part begins, and the hash of everything before it: the part may arrive again.
        var last: (start: UInt64, hash: SHA256)?
        /// The only part so far.
        var first: [UInt8] = []
        /// S3's id, once there is a second part.
        var id: String?
        /// The `ETag` fields of the parts that S3 has, in order.
        var tags: [String] = []
        /// Whether the file is in place.
        var isComplete = false
    }

    /// The size of parts, in bytes; S3 takes 5 MiB to 5 GiB.
    static let partSize = FileEntry.partLimit
    /// The most parts of one file.
    private static let partLimit = 10_000

    init(_ request: FileUploadRequest, _ requests: S3Requests, _ connection: S3Connection) {
        (self.request, self.requests, self.connection) = (request, requests, connection)
    }

    /// When a call last used the upload, in nanoseconds on the monotonic clock.
    var usedAt: UInt64 { state.withLock(\.usedAt) }

    /// Notes that a call uses the upload.
    func use(at now: UInt64) {
        state.withLock { $0.usedAt = now }
    }

    /// Adds a part, or repeats the last one.
    func add(_ content: [UInt8], at offset: UInt64) async throws(PluginError) {
        try begin()
        defer { end() }
        let known = state.withLock(\.self)
        let isAgain = known.last.map { $0.start == offset && known.size - offset == UInt64(content.count) } ?? false
        guard isAgain || offset == known.size else {
            throw PluginError(.invalid, "the part begins at byte \(offset); the next one begins at \(known.size)")
        }
        guard offset % UInt64(Self.partSize) == 0, content.count <= Self.partSize else {
            throw PluginError(
                .invalid,
                "the part of \(content.count) bytes at byte \(offset) is no part; "
                    + "all but the last have \(Self.partSize) bytes"
            )
        }
        let index = offset / UInt64(Self.partSize)
        guard index < Self.partLimit else {
            throw PluginError(.tooLarge, "S3 takes a file in at most \(Self.partLimit) parts", domain: "s3")
        }
        if index > 0 { try await send(content, Int(index)) }
        state.withLock { state in
            if index == 0 { state.first = content }
            var hash = isAgain ? known.last?.hash ?? known.hash : known.hash
            state.last = (offset, hash)
            hash.update(content)
            (state.hash, state.size) = (hash, offset + UInt64(content.count))
        }
    }

    /// Puts the file in place, unless it already is.
    func complete(size: UInt64, digest: String?) async throws(PluginError) {
        try begin()
        defer { end() }
        let known = state.withLock(\.self)
        let found = known.hash.hexadecimal
        guard size == known.size, digest == nil || digest == found else {
            throw PluginError(
                .invalid,
                "the upload has \(known.size) bytes with the SHA-256 \(found), not \(size) with \(digest ?? "any")"
            )
        }
        guard !known.isComplete else { return }
        do throws(PluginError) {
            if let id = known.id {
                let request = requests.completeUpload(request, id: id, tags: known.tags)
                _ = try await connection.document("CompleteMultipartUploadResult", of: request)
            } else {
                let response = try await connection.send(
                    requests.put(known.first, request, digest: found),
                    accepting: [200]
                )
                guard EntityTag.tag(response.headers["ETag"]) != nil else {
                    throw connection.violation("the answer to a put has no ETag", response)
                }
            }
        } catch {
            // The file must exist with a tag, but does not exist at all.
            guard case .tag = request.condition, error.status == .notFound, error.detail == 404 else { throw error }
            throw PluginError(.conflict, "\"\(request.path)\" is not there with the tag any more", domain: "s3")
        }
        state.withLock { $0.isComplete = true }
    }

    /// Ends the upload without a file.
    func abort() async throws(PluginError) {
        guard let id = state.withLock(\.id) else { return }
        try await connection.send(requests.abortUpload(id, at: request.path), accepting: [204, 404])
    }

    /// Sends a part other than the first; sends the first one before the second.
    private func send(_ content: [UInt8], _ index: Int) async throws(PluginError) {
        let (known, first) = state.withLock { ($0.id, $0.first) }
        var id = known ?? ""
        if known == nil {
            let document = try await connection.document(
                "InitiateMultipartUploadResult",
                of: requests.createUpload(request)
            )
            id = document["UploadId"]?.text ?? ""
            guard !id.isEmpty else {
                throw PluginError(.protocolViolation, "the answer has no id of an upload", domain: "s3")
            }
            state.withLock { [id] in $0.id = id }
        }
        if state.withLock(\.tags.isEmpty) {
            let tag = try await send(first, number: 1, of: id)
            state.withLock { ($0.tags, $0.first) = ([tag], []) }
        }
        let tag = try await send(content, number: index + 1, of: id)
        state.withLock { $0.tags = $0.tags.prefix(index) + [tag] }
    }

    private func send(_ content: [UInt8], number: Int, of id: String) async throws(PluginError) -> String {
        let response = try await connection.send(
            requests.part(content, number: number, of: id, at: request.path),
            accepting: [200]
        )
        guard let tag = response.headers["ETag"], EntityTag.tag(tag) != nil else {
            throw connection.violation("the answer to a part has no ETag", response)
        }
        return tag
    }

    private func begin() throws(PluginError) {
        let isFree = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFree else {
            throw PluginError(.invalid, "a call about the upload is under way; its calls come one after the other")
        }
    }

    private func end() {
        state.withLock { $0.isBusy = false }
    }
}
