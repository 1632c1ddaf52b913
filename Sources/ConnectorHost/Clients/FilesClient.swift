// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorDigest
internal import ConnectorInvocation
internal import ConnectorPlatform

/// Puts, reads and lists files through a connector of `connectors.json`.
///
/// ```swift
/// let files = try host.files("files")
/// try await files.put("reports/2026.pdf", .file("/tmp/report.pdf"), contentType: "application/pdf")
/// let text = try await files.get("notes/today.txt").collect(upTo: 1 << 20)
/// ```
///
/// Content travels in parts of at most 8 MiB, so a file may be larger than memory. The `timeout` of the options covers
/// each call, which transfers one part, not the whole transfer.
///
/// A transfer outlives a store that is busy: the call for a part, and the one that completes a put, is made three times at most while it
/// fails with an error that may pass, such as `rate-limited`. In between it waits as long as the store asks, or else for half a second and
/// a second. All of that has the timeout of one call; a store that asks to wait longer ends the transfer.
///
/// A call that fails throws a `ConnectorError`: `invalid` for a path that breaks `FilePathRule`; `missing` if there is
/// no such file; `conflict` if a condition is not met, or the file changed while it was read; `unavailable` for a full
/// disk, or a store that is unreachable or gone; `not-open`; `timed-out`; `cancelled` if the caller's task was cancelled. A change that
/// timed out or was cancelled may have taken effect.
///
/// Code that takes an `any Files` can be tested without a host: see ``Files``.
///
/// A client gives access to its own connector only. Use it from any thread.
public struct FilesClient: Files {
    let target: ClientTarget
    /// How often a put begins at most while the store loses its uploads.
    private static let attemptLimit = 3
    /// The threads that read local files; they may block on the disk.
    private let workers: WorkerThreads

    init(_ target: ClientTarget, _ workers: WorkerThreads) {
        self.target = target
        self.workers = workers
    }

    /// Reads what the store knows about a file, without its content.
    ///
    /// - Throws: `missing` if there is no such file.
    public func head(_ path: String, options: CallOptions = CallOptions()) async throws(ConnectorError) -> FileEntry {
        try await entry("head", [("path", .text(path))], options)
    }

    /// Lists files one page at a time, in byte order of their paths.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of their paths, such as `reports/`; empty for all files.
    ///   - after: The path after which the page begins: the last path of the previous page, or empty for the first
    ///     page.
    ///   - limit: The maximum number of files, within `FilePage.limitRange`.
    ///   - options: The timeout of the call.
    public func list(
        prefix: String = "",
        after: String = "",
        limit: Int = 1000,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> FilePage {
        try target.checked { () throws(ConnectorError) in
            try FilePage.check(prefix: prefix, after: after, limit: limit)
        }
        let arguments = CallArguments(encoded: [
            ("prefix", .text(prefix)), ("after", .text(after)), ("limit", .unsigned(UInt64(limit))),
        ])
        return try await target.call("list", arguments, options) { json throws(ConnectorError) in
            try FilePage(json: json)
        }
    }

    /// Puts a file, replacing any at the path. The file becomes visible only as a whole.
    ///
    /// If the put fails or the task is cancelled, the parts already sent are discarded and the path stays as it was. Only if the very last
    /// call is cancelled, or fails with an error that is retryable or `timed-out`, may the file be in place: its answer may have been lost.
    /// Discarding takes one more call, of at most 10 seconds. A put that is cancelled while its upload begins awaits that call first, until
    /// its timeout at most.
    ///
    /// An upload lives in one instance of the plugin. If a reload, a new secret or the healing of the gate puts another one in its place,
    /// the put begins again, and so does its progress: three times at most, and not with the pieces of a sequence, which are gone. It
    /// then throws `aborted`, which is retryable.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - source: The content, read part by part; a sequence once.
    ///   - contentType: The media type, such as `text/plain`.
    ///   - condition: What must be true of the path; if it is not, nothing is put and the call throws `conflict`.
    ///   - options: The timeout of each call.
    ///   - progress: Called after each part, by the task that puts the file.
    /// - Returns: What the store now knows about the file.
    /// - Throws: `unsupported` for a composite, because the parts of an upload belong to one store; any error of
    ///   reading the source, such as `unreadable` for a local file that changes meanwhile.
    @discardableResult
    public func put(
        _ path: String,
        _ source: FileSource,
        contentType: String? = nil,
        condition: FileCondition = .any,
        options: CallOptions = CallOptions(),
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(ConnectorError) -> FileEntry {
        guard try target.node.gate != nil else {
            throw ConnectorError(
                .unsupported,
                "a composite takes no uploads, whose parts belong to one store",
                fix: "name one of its leaves",
                connector: target.path
            )
        }
        let request = FileUploadRequest(path, contentType: contentType, condition: condition)
        var attempts = source.isRepeatable ? Self.attemptLimit : 1
        while true {
            var reader = try await target.describing { () async throws(ConnectorError) in
                try await source.open(workers)
            }
            let upload = try await begin(request, options)
            do throws(ConnectorError) {
                let (size, digest) = try await send(&reader, to: upload, options, progress)
                return try await continuing(options) { options async throws(ConnectorError) in
                    try await entry(
                        "completeUpload",
                        [("upload", .text(upload.id)), ("size", .unsigned(size)), ("digest", .text(digest))],
                        options
                    )
                }
            } catch {
                // In a task of its own, because this one may have been cancelled.
                await Task { await abort(upload) }.value
                attempts -= 1
                guard attempts > 0, error.code == .aborted, error.isRetryable, !Task.isCancelled else { throw error }
            }
        }
    }

    /// Reads the next part of a source; nil at the end.
    private func nextPart(
        of size: Int,
        from reader: inout FileSource.Reader
    ) async throws(ConnectorError) -> [UInt8]? {
        try await target.describing { () async throws(ConnectorError) in try await reader.part(of: size) }
    }

    /// Begins an upload.
    ///
    /// Once made, the call is not cancelled with the put: its answer has the upload's id, without which nobody could abort the upload.
    private func begin(
        _ request: FileUploadRequest,
        _ options: CallOptions
    ) async throws(ConnectorError) -> FileUpload {
        try checkCancellation()
        let call = Task { () async -> Result<FileUpload, ConnectorError> in
            do throws(ConnectorError) {
                let texts: [(name: String, text: [UInt8]?)] = [("file", request.json.utf8())]
                return .success(
                    try await target.call("createUpload", texts: texts, options) { json throws(ConnectorError) in
                        try FileUpload(json: json)
                    }
                )
            } catch {
                return .failure(error)
            }
        }
        return try await call.value.get()
    }

    /// Makes a call of an upload that has begun, at whichever instance of the plugin receives calls by now, and repeats it while that may
    /// help: the store takes the last part again, and knows a file that it has put in place.
    ///
    /// - Throws: `aborted` in place of `missing`: what is missing is the upload, not the file.
    private func continuing<Value>(
        _ options: CallOptions,
        _ call: (CallOptions) async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        do throws(ConnectorError) {
            return try await target.repeating(options, call)
        } catch {
            guard error.code == .missing else { throw error }
            throw ConnectorError(
                .aborted,
                "the upload is gone: \(error.message)",
                fix:
                    "put the file again: another instance of the plugin may have taken over, or the store may have given up the upload",
                connector: error.connector,
                cause: error.description,
                isRetryable: true
            )
        }
    }

    /// Reads a file, or a range of it, part by part.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - range: The bytes to read, clamped to the file's size; nil for all.
    ///   - options: The timeout of each call.
    ///   - progress: Called after each part, by the task that reads the content.
    /// - Returns: The file's entry and its content; the content is read as it is consumed.
    /// - Throws: `missing` if there is no such file.
    public func get(
        _ path: String,
        range: Range<UInt64>? = nil,
        options: CallOptions = CallOptions(),
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(ConnectorError) -> FileContents {
        let entry = try await head(path, options: options)
        return FileContents(entry: entry, range: range, progress: progress) {
            (entry, offset, count) throws(ConnectorError) in
            let arguments = CallArguments(encoded: [
                ("path", .text(path)), ("offset", .unsigned(offset)), ("count", .unsigned(UInt64(count))),
                ("tag", .text(entry.tag)),
            ])
            let part = try await target.repeating(options) { options async throws(ConnectorError) in
                try await target.call("get", arguments, options).result.text
            }
            return try target.model(of: "get") { () throws(ConnectorError) in
                guard part.count == count else {
                    throw ConnectorError(.invalid, "the part of \(count) bytes from byte \(offset) has \(part.count)")
                }
                return part
            }
        }
    }

    /// Removes a file; a missing file is not an error.
    public func remove(_ path: String, options: CallOptions = CallOptions()) async throws(ConnectorError) {
        _ = try await target.call("remove", CallArguments(encoded: [("path", .text(path))]), options)
    }

    /// Copies a file within the store, replacing any at the destination.
    ///
    /// - Returns: What the store knows about the copy.
    /// - Throws: `missing` if the source does not exist.
    @discardableResult
    public func copy(
        _ source: String,
        to destination: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> FileEntry {
        try await entry("copy", [("source", .text(source)), ("destination", .text(destination))], options)
    }

    /// Sends all parts of a source.
    ///
    /// - Returns: The size in bytes and the SHA-256 of the content sent.
    private func send(
        _ reader: inout FileSource.Reader,
        to upload: FileUpload,
        _ options: CallOptions,
        _ progress: (@Sendable (FileProgress) -> Void)?
    ) async throws(ConnectorError) -> (size: UInt64, digest: String) {
        var state = FileProgress(transferred: 0, total: reader.size)
        var hash = SHA256()
        while let part = try await nextPart(of: upload.partSize, from: &reader) {
            hash.update(part)
            let arguments = CallArguments(encoded: [
                ("upload", .text(upload.id)), ("offset", .unsigned(state.transferred)), ("content", .bytes(part)),
            ])
            _ = try await continuing(options) { options async throws(ConnectorError) in
                try await target.call("uploadPart", arguments, options)
            }
            state.transferred += UInt64(part.count)
            progress?(state)
        }
        // A sequence may end without an error because the task was cancelled; the content is then incomplete.
        try checkCancellation()
        return (state.transferred, hash.hexadecimal)
    }

    /// Checks that the task of a put has not been cancelled.
    private func checkCancellation() throws(ConnectorError) {
        guard Task.isCancelled else { return }
        throw ConnectorError(.cancelled, "the put was cancelled", connector: target.path)
    }

    /// Abandons an upload. If that fails, the store abandons it when it is next opened.
    ///
    /// The call has a time of its own: with one that was too short for a part, it might fail, too.
    private func abort(_ upload: FileUpload) async {
        let arguments = CallArguments(encoded: [("upload", .text(upload.id))])
        _ = try? await target.call("abortUpload", arguments, CallOptions(timeout: .seconds(10)))
    }

    private func entry(
        _ operation: String,
        _ arguments: [(name: String, value: CallValue)],
        _ options: CallOptions
    ) async throws(ConnectorError) -> FileEntry {
        try await target.call(operation, CallArguments(encoded: arguments), options) { json throws(ConnectorError) in
            try FileEntry(json: json)
        }
    }
}

/// The progress of a transfer.
public struct FileProgress: Sendable, Hashable {
    /// The number of bytes sent or read so far.
    public var transferred: UInt64
    /// The total number of bytes to send or read; nil if the source does not know.
    public var total: UInt64?

    /// Creates a value, for tests.
    public init(transferred: UInt64, total: UInt64?) {
        self.transferred = transferred
        self.total = total
    }
}

extension CallValue {
    /// The UTF-8 bytes of a text.
    fileprivate static func text(_ text: String) -> CallValue { .bytes(Array(text.utf8)) }
}
