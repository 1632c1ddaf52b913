// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `files/1`. Its manifest omits the operations that the store cannot do.
///
/// Paths, digests and part sizes have been checked before these methods run: see `FilePathRule`.
public protocol FilesPlugin: Plugin {
    /// Reads what the store knows about a file.
    ///
    /// - Throws: A ``PluginError`` of status `notFound` if there is none.
    func head(_ path: String) async throws -> FileEntry

    /// Lists files in the order of their paths' bytes.
    ///
    /// - Parameters:
    ///   - prefix: What the paths start with; empty for all.
    ///   - after: The path that the page begins after, whether or not such a file exists; empty for the first page.
    ///   - limit: The most files, 1 to 1000.
    func list(prefix: String, after: String, limit: Int) async throws -> FilePage

    /// Reads a part of a file: `count` bytes, fewer at the end of the file, none past it.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - offset: Where the part begins, in bytes.
    ///   - count: The size of the part, 1 to `FileEntry.partLimit`.
    ///   - tag: The tag that the file must still have; nil for any.
    /// - Throws: A ``PluginError`` of status `notFound` if there is no such file, `conflict` if it has another tag.
    func get(_ path: String, from offset: UInt64, count: Int, tag: String?) async throws -> [UInt8]

    /// Begins an upload, which is not visible until it completes.
    ///
    /// If the caller has gone by the time this returns, ``abortUpload(_:)`` ends the upload.
    func createUpload(_ request: FileUploadRequest) async throws -> FileUpload

    /// Adds a part, which has the upload's part size unless it is the last.
    ///
    /// Parts arrive in order. After a retryable error, and if its outcome is unknown, a part may arrive again before the next one.
    ///
    /// - Throws: A ``PluginError`` of status `notFound` for an unknown upload, `invalid` for a part out of order.
    func uploadPart(_ content: [UInt8], of upload: String, at offset: UInt64) async throws

    /// Moves the finished file into place atomically: readers see the whole old file or the whole new one.
    ///
    /// - Parameters:
    ///   - upload: The upload, which ends if this succeeds.
    ///   - size: The size that the file must have, in bytes.
    ///   - digest: The SHA-256 that it must have, as 64 lower-case hexadecimal digits; nil if the caller does not know
    ///     it.
    /// - Throws: A ``PluginError`` of status `conflict` if the request's condition is not met, `invalid` if the size or
    ///   digest differs, `notFound` for an unknown upload. After a retryable error the caller repeats the call: if only the store's answer
    ///   was lost, and the file is in place, that must succeed. After any other error nothing has changed. The caller ends an upload that it
    ///   does not complete with ``abortUpload(_:)``.
    func completeUpload(_ upload: String, size: UInt64, digest: String?) async throws -> FileEntry

    /// Ends an upload without creating a file; an unknown upload is not an error.
    func abortUpload(_ upload: String) async throws

    /// Removes a file; it is not an error if there is none.
    func remove(_ path: String) async throws

    /// Copies a file, replacing any file at the destination.
    ///
    /// - Throws: A ``PluginError`` of status `notFound` if the source does not exist.
    func copy(_ source: String, to destination: String) async throws -> FileEntry
}

extension FilesPlugin {
    /// The operation `head`.
    public func head(path: String) async throws -> JSONValue {
        try FilePathRule.check(path)
        return try await head(path).json
    }

    /// The operation `list`.
    public func list(prefix: String?, after: String?, limit: UInt32?) async throws -> JSONValue {
        let (prefix, after, limit) = (prefix ?? "", after ?? "", Int(limit ?? UInt32(FilePage.limitRange.upperBound)))
        try FilePage.check(prefix: prefix, after: after, limit: limit)
        return try await list(prefix: prefix, after: after, limit: limit).json
    }

    /// The operation `get`.
    public func get(path: String, offset: UInt64, count: UInt32, tag: String?) async throws -> [UInt8] {
        try FilePathRule.check(path)
        guard (1...FileEntry.partLimit).contains(Int(count)) else {
            throw PluginError(.invalid, "count is \(count); it must be 1 to \(FileEntry.partLimit)")
        }
        guard offset <= UInt64(Int64.max) - UInt64(count) else {
            throw PluginError(.invalid, "offset is \(offset): no file is that long")
        }
        return try await get(path, from: offset, count: Int(count), tag: tag)
    }

    /// The operation `createUpload`.
    public func createUpload(file: JSONValue) async throws -> JSONValue {
        let upload = try await createUpload(FileUploadRequest(json: file))
        // Only a caller that knows the id can end the upload.
        Deadline.ifUnclaimed { _ = try? await self.abortUpload(upload.id) }
        return upload.json
    }

    /// The operation `uploadPart`.
    public func uploadPart(upload: String, offset: UInt64, content: [UInt8]) async throws {
        guard (1...FileEntry.partLimit).contains(content.count),
            offset <= UInt64(Int64.max) - UInt64(content.count)
        else {
            throw PluginError(
                .invalid,
                "a part of \(content.count) bytes at byte \(offset) cannot be put; it must have 1 to \(FileEntry.partLimit)"
            )
        }
        try await uploadPart(content, of: upload, at: offset)
    }

    /// The operation `completeUpload`.
    public func completeUpload(upload: String, size: UInt64, digest: String?) async throws -> JSONValue {
        if let digest { try FileEntry.checkDigest(digest) }
        return try await completeUpload(upload, size: size, digest: digest).json
    }

    /// The operation `abortUpload`.
    public func abortUpload(upload: String) async throws {
        try await abortUpload(upload)
    }

    /// The operation `remove`.
    public func remove(path: String) async throws {
        try FilePathRule.check(path)
        try await remove(path)
    }

    /// The operation `copy`.
    public func copy(source: String, destination: String) async throws -> JSONValue {
        try FilePathRule.check(source)
        try FilePathRule.check(destination)
        return try await copy(source, to: destination).json
    }
}
