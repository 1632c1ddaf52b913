// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// What an application needs of `files/1`: a ``FilesClient`` of a host, or `InMemoryFiles` in its tests.
///
/// The functions mean and throw what those of ``FilesClient`` do.
public protocol Files: Sendable {
    /// Reads what the store knows of a file, without its content.
    func head(_ path: String, options: CallOptions) async throws(ConnectorError) -> FileEntry

    /// Lists files in the order of their paths' bytes, one page at a time.
    func list(
        prefix: String,
        after: String,
        limit: Int,
        options: CallOptions
    ) async throws(ConnectorError) -> FilePage

    /// Puts a file, replacing any that is there.
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

    /// Removes a file; it is not an error if there is none.
    func remove(_ path: String, options: CallOptions) async throws(ConnectorError)

    /// Copies a file within the store, replacing any that is there.
    @discardableResult
    func copy(
        _ source: String,
        to destination: String,
        options: CallOptions
    ) async throws(ConnectorError) -> FileEntry
}

/// The same calls with the default timeout.
extension Files {
    /// Reads what the store knows of a file, without its content.
    public func head(_ path: String) async throws(ConnectorError) -> FileEntry {
        try await head(path, options: CallOptions())
    }

    /// Lists files in the order of their paths' bytes, one page at a time.
    ///
    /// - Parameters:
    ///   - prefix: What their paths start with; empty for all files.
    ///   - after: The path that the page begins after: the last one of the previous page; empty for the first page.
    ///   - limit: The most files, within `FilePage.limitRange`.
    public func list(
        prefix: String = "",
        after: String = "",
        limit: Int = 1000
    ) async throws(ConnectorError) -> FilePage {
        try await list(prefix: prefix, after: after, limit: limit, options: CallOptions())
    }

    /// Puts a file, replacing any that is there.
    ///
    /// - Parameters:
    ///   - path: Where it will be.
    ///   - source: Its content, which is read once, part by part.
    ///   - contentType: Its media type, such as `text/plain`.
    ///   - condition: What must be true of the path, or nothing is put: `conflict`.
    ///   - progress: Called after each part, by the task that puts.
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
    ///   - range: The bytes to read, as far as the file has them; nil for all.
    ///   - progress: Called after each part, by the task that reads.
    public func get(
        _ path: String,
        range: Range<UInt64>? = nil,
        progress: (@Sendable (FileProgress) -> Void)? = nil
    ) async throws(ConnectorError) -> FileContents {
        try await get(path, range: range, options: CallOptions(), progress: progress)
    }

    /// Removes a file; it is not an error if there is none.
    public func remove(_ path: String) async throws(ConnectorError) {
        try await remove(path, options: CallOptions())
    }

    /// Copies a file within the store, replacing any that is there.
    @discardableResult
    public func copy(_ source: String, to destination: String) async throws(ConnectorError) -> FileEntry {
        try await copy(source, to: destination, options: CallOptions())
    }
}
