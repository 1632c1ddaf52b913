// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// An upload under way. A small file stays in memory until it completes; the server gets a larger one part by part.
final class WebDAVUpload: Sendable {
    /// The request that began the upload.
    let request: FileUploadRequest
    private let requests: WebDAVRequests
    private let connection: WebDAVConnection
    private let leftovers: WebDAVLeftovers
    private let state: Mutex<State>

    private struct State {
        /// When a call last used the upload, in nanoseconds on the monotonic clock.
        var usedAt: UInt64
        /// The path of the content until it is in place. One that was given up is not used again: it may be removed later.
        var temporary = WebDAVRequests.temporaryPath
        /// The tag of the whole content at the temporary path; nil until it is there.
        var tag: String?
        /// Whether a call is using it now: parts must arrive one at a time.
        var isBusy = false
        /// The number of bytes before the last part, and their hash.
        var size: UInt64 = 0
        var hash = SHA256()
        /// The last part, which may arrive again.
        var last: [UInt8] = []
        /// The content before the last part, unless the server has it.
        var content: [UInt8] = []
        /// The transfer to the server, once there is too much to keep.
        var transfer: WebDAVTransfer?
        /// Whether it has been aborted: a part may still be on its way, and begins no transfer, or the completion, which puts nothing.
        var isAborted = false
    }

    /// The size of parts, in bytes.
    static let partSize = 1 << 20
    /// The most bytes to keep before the server gets them.
    static let memoryLimit = 8 << 20
    /// The size of the largest file, in bytes.
    static let sizeLimit: UInt64 = 1 << 40

    init(
        _ request: FileUploadRequest,
        _ requests: WebDAVRequests,
        _ connection: WebDAVConnection,
        _ leftovers: WebDAVLeftovers,
        at now: UInt64
    ) {
        (self.request, self.requests, self.connection, self.leftovers) = (request, requests, connection, leftovers)
        state = Mutex(State(usedAt: now))
    }

    /// When a call last used the upload, in nanoseconds on the monotonic clock.
    var usedAt: UInt64 { state.withLock(\.usedAt) }

    /// The path of the content until it is in place.
    var temporary: String { state.withLock(\.temporary) }

    /// The tag of the whole content at the temporary path; nil until it is there.
    var tag: String? { state.withLock(\.tag) }

    /// Whether the upload can be completed once more: the whole content is at the temporary path, or still in memory.
    var canComplete: Bool { state.withLock { $0.tag != nil || $0.transfer == nil } }

    /// The number of bytes that it keeps in memory.
    var memory: Int { state.withLock { $0.content.count + $0.last.count } }

    /// Adds a part, or repeats the last one.
    func add(_ part: [UInt8], at offset: UInt64, now: UInt64) async throws(PluginError) {
        try begin(at: now)
        defer { end() }
        let (size, last) = state.withLock { ($0.size, $0.last) }
        let isAgain = offset == size && last.count == part.count
        let next = size + UInt64(last.count)
        guard state.withLock({ $0.tag == nil }) else {
            throw PluginError(.invalid, "the upload has all its parts; complete or abort it")
        }
        guard isAgain || offset == next else {
            throw PluginError(.invalid, "the part begins at byte \(offset); the next one begins at \(next)")
        }
        guard offset % UInt64(Self.partSize) == 0, part.count <= Self.partSize else {
            throw PluginError(
                .invalid,
                "the part of \(part.count) bytes at byte \(offset) is no part; all but the last have \(Self.partSize) bytes"
            )
        }
        guard offset + UInt64(part.count) <= Self.sizeLimit else {
            throw PluginError(.tooLarge, "a file has at most \(Self.sizeLimit >> 40) TiB here")
        }
        if !isAgain { try await keep(last) }
        state.withLock { state in
            if !isAgain {
                state.size = offset
                state.hash.update(last)
            }
            state.last = part
        }
    }

    /// The digest of the content.
    ///
    /// - Throws: `invalid` if the content does not have the given size and digest.
    func checkedDigest(size: UInt64, digest: String?) throws(PluginError) -> String {
        let (found, count) = state.withLock { state in
            var hash = state.hash
            hash.update(state.last)
            return (hash.hexadecimal, state.size + UInt64(state.last.count))
        }
        guard size == count, digest == nil || digest == found else {
            throw PluginError(
                .invalid,
                "the upload has \(count) bytes with the SHA-256 \(found), not \(size) with \(digest ?? "any")"
            )
        }
        return found
    }

    /// Puts the content at the temporary path. Call it between ``begin(at:)`` and ``end()``.
    func putContent() async throws(PluginError) {
        let (transfer, content, last) = state.withLock { ($0.transfer, $0.content, $0.last) }
        // Without the transfer, the last part would pass for the whole.
        try check()
        guard let transfer else {
            let put = requests.put(content + last, at: temporary, contentType: request.contentType)
            try await connection.sendMakingParents(put, of: temporary, accepting: [201, 204])
            return
        }
        try await transfer.send(last)
        let response = try await transfer.finish()
        guard [201, 204].contains(response.status) else {
            throw try await connection.refusal(response, to: transfer.request, at: temporary)
        }
    }

    /// Notes that the whole content is at the temporary path, and can be moved to its place as often as that takes.
    func setTag(_ tag: String) {
        state.withLock { $0.tag = tag }
    }

    /// Gives up what is at the temporary path, unless the upload can be completed with it although a call has failed.
    func endAttempt(after error: PluginError) async {
        // Nobody would send the rest, so the request would never end.
        cancel()
        let given = state.withLock { state -> String? in
            guard state.tag == nil || !error.isRetryable || state.isAborted else { return nil }
            defer { (state.temporary, state.tag) = (WebDAVRequests.temporaryPath, nil) }
            return state.temporary
        }
        if let given { await leftovers.remove(given) }
    }

    /// Checks that the upload has not been aborted.
    func check() throws(PluginError) {
        guard !state.withLock(\.isAborted) else { throw Self.aborted }
    }

    /// Ends the request that sends the content to the server, if there is one and it has not ended.
    func cancel() {
        state.withLock(\.transfer)?.cancel()
    }

    /// Ends the upload without a file, and removes its content from the server.
    func abort() async {
        let (transfer, temporary) = state.withLock { state in
            state.isAborted = true
            let isStored = state.transfer != nil || state.tag != nil
            return (state.transfer.take(), isStored ? state.temporary : nil)
        }
        transfer?.cancel()
        if let temporary { await leftovers.remove(temporary) }
    }

    /// Keeps a part that will not arrive again, in memory or on the server.
    private func keep(_ part: [UInt8]) async throws(PluginError) {
        if let transfer = state.withLock(\.transfer) { return try await transfer.send(part) }
        let content = state.withLock(\.content) + part
        guard content.count > Self.memoryLimit else { return state.withLock { $0.content = content } }
        try await connection.makeCollection(WebDAVRequests.uploadsName)
        let put = requests.put([], at: temporary, contentType: request.contentType)
        let transfer = state.withLock { state -> WebDAVTransfer? in
            guard !state.isAborted else { return nil }
            let transfer = WebDAVTransfer(put, at: state.temporary, connection)
            (state.transfer, state.content) = (transfer, [])
            return transfer
        }
        guard let transfer else { throw Self.aborted }
        try await transfer.send(content)
    }

    private static var aborted: PluginError {
        PluginError(.notFound, "the upload was aborted meanwhile", domain: "webdav")
    }

    /// Begins a call that uses the upload.
    ///
    /// - Throws: `invalid` if another call has not ended.
    func begin(at now: UInt64) throws(PluginError) {
        let isFree = state.withLock { state in
            defer { (state.isBusy, state.usedAt) = (true, now) }
            return !state.isBusy
        }
        guard isFree else {
            throw PluginError(.invalid, "a call about the upload is under way; its calls come one after the other")
        }
    }

    /// Ends a call that uses the upload.
    func end() {
        state.withLock { $0.isBusy = false }
    }
}
