// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorDigest
public import ConnectorHost
internal import Synchronization

/// A store of files for an application's tests, which keeps them in memory.
///
/// ```swift
/// let files = InMemoryFiles()
/// try await Reports(files: files).publish()
/// #expect(try await files.list(prefix: "reports/").files.map(\.path) == ["reports/2026.pdf"])
/// ```
///
/// It is empty at first, and follows the contract of `files/1`. By default, files have the time of change 1970-01-01T00:00:00Z.
/// A call in a cancelled task or past its deadline is refused. Use it from any thread.
public final class InMemoryFiles: Files {
    private struct File {
        var entry: FileEntry
        var content: [UInt8]
    }

    private struct State {
        var files: [ExactText: File] = [:]
        var changes = 0
        var error: ConnectorError?
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp

    /// Starts empty.
    ///
    /// - Parameter now: The time for each change.
    public init(now: @escaping @Sendable () -> Timestamp = { Timestamp(nanoseconds: 0) }) {
        self.now = now
    }

    /// The error that every call throws from now on, without changing anything; nil for none.
    public var error: ConnectorError? {
        get { state.withLock(\.error) }
        set { state.withLock { $0.error = newValue } }
    }

    /// Reads what the store knows of a file, without its content.
    ///
    /// - Throws: `missing` if there is no such file.
    public func head(_ path: String, options: CallOptions) async throws(ConnectorError) -> FileEntry {
        try options.begin("head")
        return try file(path).entry
    }

    /// Lists files in the order of their paths' bytes, one page at a time.
    public func list(
        prefix: String,
        after: String,
        limit: Int,
        options: CallOptions
    ) async throws(ConnectorError) -> FilePage {
        try options.begin("list")
        try FilePage.check(prefix: prefix, after: after, limit: limit)
        let entries = try access { state in state.files.values.map(\.entry) }
            .filter { FileSelection(prefix: prefix, after: after).includes($0.path) }
            .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return FilePage(files: Array(entries.prefix(limit)), hasMore: entries.count > limit)
    }

    /// Puts a file, replacing any that is there.
    ///
    /// - Throws: `conflict` if the condition is not met; any error of reading the source.
    @discardableResult
    public func put(
        _ path: String,
        _ source: FileSource,
        contentType: String?,
        condition: FileCondition,
        options: CallOptions,
        progress: (@Sendable (FileProgress) -> Void)?
    ) async throws(ConnectorError) -> FileEntry {
        try options.begin("createUpload")
        let request = try FileUploadRequest(
            json: FileUploadRequest(path, contentType: contentType, condition: condition).json
        )
        _ = try access { _ in }
        let content = try await source.collect()
        progress?(FileProgress(transferred: UInt64(content.count), total: UInt64(content.count)))
        return try store(content, request)
    }

    /// Reads a file, or a range of it.
    ///
    /// - Throws: `missing` if there is no such file. Reading the contents throws `conflict` if the file has changed meanwhile.
    public func get(
        _ path: String,
        range: Range<UInt64>?,
        options: CallOptions,
        progress: (@Sendable (FileProgress) -> Void)?
    ) async throws(ConnectorError) -> FileContents {
        try options.begin("head")
        return FileContents(entry: try file(path).entry, range: range, progress: progress) {
            [self] (entry, offset, count) throws(ConnectorError) in
            try options.begin("get")
            let found = try file(path)
            guard found.entry.tag == entry.tag else {
                throw ConnectorError(.conflict, "\"\(path)\" has changed since it had the tag")
            }
            return Array(found.content.dropFirst(Int(offset)).prefix(count))
        }
    }

    /// Removes a file; it is not an error if there is none.
    public func remove(_ path: String, options: CallOptions) async throws(ConnectorError) {
        try options.begin("remove")
        try FilePathRule.check(path)
        try access { state in state.files[ExactText(path)] = nil }
    }

    /// Copies a file, replacing any that is there.
    ///
    /// - Throws: `missing` if there is no source.
    @discardableResult
    public func copy(
        _ source: String,
        to destination: String,
        options: CallOptions
    ) async throws(ConnectorError) -> FileEntry {
        try options.begin("copy")
        try FilePathRule.check(destination)
        let file = try file(source)
        return try store(file.content, FileUploadRequest(destination, contentType: file.entry.contentType))
    }

    private func store(_ content: [UInt8], _ request: FileUploadRequest) throws(ConnectorError) -> FileEntry {
        var hash = SHA256()
        hash.update(content)
        let time = now()
        return try access { state throws(ConnectorError) in
            let path = ExactText(request.path)
            let tag = state.files[path]?.entry.tag
            guard request.condition.isMet(by: tag) else {
                let found = tag.map { "the tag \($0)" } ?? "no file"
                throw ConnectorError(.conflict, "\"\(request.path)\" has \(found), which the put does not want")
            }
            state.changes += 1
            let entry = FileEntry(
                path: request.path,
                size: UInt64(content.count),
                modified: time,
                tag: "\(state.changes)",
                contentType: request.contentType,
                digest: hash.hexadecimal
            )
            state.files[path] = File(entry: entry, content: content)
            return entry
        }
    }

    private func file(_ path: String) throws(ConnectorError) -> File {
        try FilePathRule.check(path)
        return try access { state throws(ConnectorError) in
            guard let file = state.files[ExactText(path)] else {
                throw ConnectorError(.missing, "there is no file \"\(path)\"")
            }
            return file
        }
    }

    private func access<Value>(
        _ body: (inout State) throws(ConnectorError) -> Value
    ) throws(ConnectorError) -> Value where Value: Sendable {
        try state.withLock { state throws(ConnectorError) in
            if let error = state.error { throw error }
            return try body(&state)
        }
    }
}
