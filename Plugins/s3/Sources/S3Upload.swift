// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// An upload under way. The first part stays in memory until there is a second; then S3 gets both.
final class S3Upload: Sendable {
    /// The upload's id, not that of S3. The file keeps it.
    private let id: String
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
        /// Whether the last call was a completion that failed and would fail again.
        var hasFailed = false
        /// Whether it has been aborted: a part may still be on its way, for which S3 begins an upload, or the completion.
        var isAborted = false
    }

    /// The size of parts, in bytes; S3 takes 5 MiB to 5 GiB.
    static let partSize = FileEntry.partLimit
    /// The most parts of one file.
    private static let partLimit = 10_000

    init(_ id: String, _ request: FileUploadRequest, _ requests: S3Requests, _ connection: S3Connection) {
        (self.id, self.request, self.requests, self.connection) = (id, request, requests, connection)
    }

    /// When a call last used the upload, in nanoseconds on the monotonic clock.
    var usedAt: UInt64 { state.withLock(\.usedAt) }

    /// Whether its last call was a completion that failed and would fail again: its caller may have given it up.
    var hasFailed: Bool { state.withLock(\.hasFailed) }

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
        do throws(PluginError) {
            try await finish(size: size, digest: digest)
        } catch {
            state.withLock { $0.hasFailed = !error.isRetryable }
            throw error
        }
    }

    private func finish(size: UInt64, digest: String?) async throws(PluginError) {
        let known = state.withLock(\.self)
        let found = known.hash.hexadecimal
        guard size == known.size, digest == nil || digest == found else {
            throw PluginError(
                .invalid,
                "the upload has \(known.size) bytes with the SHA-256 \(found), not \(size) with \(digest ?? "any")"
            )
        }
        guard !known.isComplete else { return }
        // Many servers ignore the fields of a put that state its condition.
        let isThere = request.condition == .any ? false : try await isInPlace()
        if !isThere {
            guard !state.withLock(\.isAborted) else { throw Self.aborted }
            try await put(known, digest: found)
        }
        state.withLock { $0.isComplete = true }
    }

    /// Whether the file is in place: an earlier call may have put it there, although its answer was lost.
    ///
    /// - Throws: `conflict` if the file is not there, and the condition of the upload is not met.
    private func isInPlace() async throws(PluginError) -> Bool {
        let found = try await connection.response(to: requests.head(request.path), accepting: [200])
        let tag = EntityTag.tag(found?.headers["ETag"])
        if let found, tag == nil { throw connection.violation("the answer has no ETag", found) }
        if found?.headers[S3Requests.uploadField] == id { return true }
        switch request.condition {
        case .absent where tag != nil:
            throw PluginError(.conflict, "there is a file \"\(request.path)\" already", domain: "s3")
        case .tag(let expected) where tag != expected:
            throw PluginError(.conflict, "\"\(request.path)\" no longer has the tag", domain: "s3")
        default: return false
        }
    }

    /// Puts the file in place with one request, or has S3 assemble it from the parts.
    private func put(_ known: State, digest: String) async throws(PluginError) {
        do throws(PluginError) {
            if let id = known.id {
                var connection = connection
                // After this conflict, a multipart upload must begin again.
                connection.repeatableCodes.remove("ConditionalRequestConflict")
                let request = requests.completeUpload(request, id: id, tags: known.tags)
                _ = try await connection.document("CompleteMultipartUploadResult", of: request)
            } else {
                let request = requests.put(known.first, request, id: id, digest: digest)
                let response = try await connection.send(request, accepting: [200])
                guard EntityTag.tag(response.headers["ETag"]) != nil else {
                    throw connection.violation("the answer to a put has no ETag", response)
                }
            }
        } catch {
            // S3 also answers so if the file is in place, or another one has just come or gone. After any other error that may pass, the
            // file may be in place, too: the answer was lost, or is none that this adapter knows.
            let mayBeInPlace = error.isRetryable && error.status != .rateLimited
            guard mayBeInPlace || error.status == .notFound || error.status == .conflict else { throw error }
            if try await isInPlace() { return }
            guard error.detail == 412 else { throw error }
            throw PluginError(
                .conflict,
                "another program has put or removed \"\(request.path)\" meanwhile: \(error.message)",
                domain: error.domain,
                detail: error.detail
            )
        }
    }

    /// Ends the upload without a file.
    func abort() async throws(PluginError) {
        let id = state.withLock { state in
            state.isAborted = true
            return state.id
        }
        guard let id else { return }
        try await connection.send(requests.abortUpload(id, at: request.path), accepting: [204, 404])
    }

    /// Sends a part other than the first; sends the first one before the second.
    private func send(_ content: [UInt8], _ index: Int) async throws(PluginError) {
        let (known, first) = state.withLock { ($0.id, $0.first) }
        var id = known ?? ""
        if known == nil {
            let document = try await connection.document(
                "InitiateMultipartUploadResult",
                of: requests.createUpload(request, id: self.id)
            )
            id = document["UploadId"]?.text ?? ""
            guard !id.isEmpty else {
                throw PluginError(.protocolViolation, "the answer has no id of an upload", domain: "s3")
            }
            state.withLock { [id] state in state.id = id }
            try await endIfAborted()
        }
        if state.withLock(\.tags.isEmpty) {
            let tag = try await send(first, number: 1, of: id)
            state.withLock { ($0.tags, $0.first) = ([tag], []) }
        }
        let tag = try await send(content, number: index + 1, of: id)
        state.withLock { $0.tags = $0.tags.prefix(index) + [tag] }
    }

    private func send(_ content: [UInt8], number: Int, of id: String) async throws(PluginError) -> String {
        let answer: Result<HTTPResponse, PluginError>
        do throws(PluginError) {
            let part = requests.part(content, number: number, of: id, at: request.path)
            answer = .success(try await connection.send(part, accepting: [200]))
        } catch {
            answer = .failure(error)
        }
        try await endIfAborted()
        let response = try answer.get()
        guard let tag = response.headers["ETag"], EntityTag.tag(tag) != nil else {
            throw connection.violation("the answer to a part has no ETag", response)
        }
        return tag
    }

    /// Aborts the upload at S3 if it was aborted while a request was on its way: S3 may have begun it, or taken a part, after that.
    private func endIfAborted() async throws(PluginError) {
        guard state.withLock(\.isAborted) else { return }
        // A detached task, because this one may have been cancelled, and the call's deadline may have passed.
        _ = await Task.detached { [self] in try? await abort() }.value
        throw Self.aborted
    }

    private static var aborted: PluginError {
        PluginError(.notFound, "the upload was aborted meanwhile", domain: "s3")
    }

    private func begin() throws(PluginError) {
        let isFree = state.withLock { state in
            defer { (state.isBusy, state.hasFailed) = (true, false) }
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
