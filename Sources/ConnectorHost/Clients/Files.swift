// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// The `files/1` interface an application depends on: a ``FilesClient`` in production, `InMemoryFiles` in tests.
///
/// ``FilesClient`` documents what the functions do and throw.
public protocol Files: Sendable {
    /// Reads what the store knows about a file, without its content.
    func head(_ path: String, options: CallOptions) async throws(ConnectorError) -> FileEntry

    /// Lists files one page at a time, in byte order of their paths.
    func list(
        prefix: String,
        after: String,
        limit: Int,
        options: CallOptions
    ) async throws(ConnectorError) -> FilePage

    /// Puts a file, replacing any at the path.
    @discardableResult
    func put(
        _ path: String,
        _ source: FileSource,
        contentType: String?,
        condition: FileCondition,
        options: CallOptions,
        progress: (@Sendable (FileProgress) -> Void)?
    ) async throws(ConnectorError) -> FileEntry

    /// Reads a file, or a range of it, part by part.
    func get(
        _ path: String,
        range: Range<UInt64>?,
        options: CallOptions,
        progress: (@Sendable (FileProgress) -> Void)?
    ) async throws(ConnectorError) -> FileContents

    /// Removes a file; a missing file is not an error.
    func remove(_ path: String, options: CallOptions) async throws(ConnectorError)

    /// Copies a file within the store, replacing any at the destination.
    @discardableResult
    func copy(
        _ source: String,
        to destination: String,
        options: CallOptions
    ) async throws(ConnectorError) -> FileEntry
}

/// The same calls with the default timeout.
extension Files {
    /// Reads what the store knows about a file, without its content.
    public func head(_ path: String) async throws(ConnectorError) -> FileEntry {
        try await head(path, options: CallOptions())
    }

    /// Lists files one page at a time, in byte order of their paths.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of their paths; empty for all files.
    ///   - after: The path after which the page begins: the last path of the previous page, or empty for the first
    ///     page.
    ///   - limit: The maximum number of files, within `FilePage.limitRange`.
    public func list(
        prefix: String = "",
        after: String = "",
        limit: Int = 1000
    ) async throws(ConnectorError) -> FilePage {
        try await list(prefix: prefix, after: after, limit: limit, options: CallOptions())
    }

    /// Puts a file, replacing any at the path.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - source: The content, read once, part by part.
    ///   - contentType: The media type, such as `text/plain`.
    ///   - condition: What must be true of the path; if it is not, nothing is put and the call throws `conflict`.
    ///   - progress: Called after each part, by the task that puts the file.
    @discardableResult
    public func put(
        _ path: String,
        _ source: FileSource,
        contentType: String? = nil,
        condition: FileCondition = .any,
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(ConnectorError) -> FileEntry {
        try await put(
            path,
            source,
            contentType: contentType,
            condition: condition,
            options: CallOptions(),
            progress: progress
        )
    }

    /// Reads a file, or a range of it, part by part.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - range: The bytes to read, clamped to the file's size; nil for all.
    ///   - progress: Called after each part, by the task that reads the content.
    public func get(
        _ path: String,
        range: Range<UInt64>? = nil,
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(ConnectorError) -> FileContents {
        try await get(path, range: range, options: CallOptions(), progress: progress)
    }

    /// Removes a file; a missing file is not an error.
    public func remove(_ path: String) async throws(ConnectorError) {
        try await remove(path, options: CallOptions())
    }

    /// Copies a file within the store, replacing any at the destination.
    @discardableResult
    public func copy(_ source: String, to destination: String) async throws(ConnectorError) -> FileEntry {
        try await copy(source, to: destination, options: CallOptions())
    }
}
