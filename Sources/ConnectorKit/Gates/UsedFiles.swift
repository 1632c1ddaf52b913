// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities

/// `files/1` at a used gate: whole files in memory, transferred in parts.
///
/// A transfer outlives a store that is busy: the call for a part, and the one that completes a put, is made three times at most, within 30
/// seconds, while it fails with an error that may pass. In between it waits as long as the store asks, or else briefly.
public struct UsedFiles: UsedCapability {
    private let gate: UsedGate
    /// How often a put begins at most while the store loses its uploads.
    private static let attemptLimit = 3

    /// Wraps a used gate that offers `files/1`.
    public init(_ gate: UsedGate) {
        self.gate = gate
    }

    /// Reads what the store knows about a file; throws `notFound` if there is none.
    public func head(_ path: String) async throws(PluginError) -> FileEntry {
        try await entry("head", ["path": .string(path)])
    }

    /// Lists files in the order of their paths' bytes, one page at a time.
    ///
    /// - Parameters:
    ///   - prefix: What the paths start with; empty for all.
    ///   - after: The path that the page begins after; empty for the first page.
    ///   - limit: The most files, within `FilePage.limitRange`.
    public func list(
        prefix: String = "",
        after: String = "",
        limit: Int = 1000
    ) async throws(PluginError) -> FilePage {
        try await gate.call(
            "list",
            ["prefix": .string(prefix), "after": .string(after), "limit": .integer(Int64(limit))]
        ) { json throws(ConnectorError) in try FilePage(json: json) }
    }

    /// Reads a file, in parts. Does not compare the content with the digest that the store may keep, since the kit has no SHA-256: a
    /// plugin that has one compares it with the `digest` of ``head(_:)``.
    ///
    /// - Parameter limit: The most bytes to read into memory.
    /// - Throws: `notFound` if there is no such file, `tooLarge` if it has more bytes, `conflict` if it changes during the read.
    public func get(_ path: String, upTo limit: Int = 64 << 20) async throws(PluginError) -> [UInt8] {
        let entry = try await head(path)
        guard let size = Int(exactly: entry.size), size <= limit else {
            throw PluginError(.tooLarge, "\"\(path)\" has \(entry.size) bytes, more than \(limit)")
        }
        var content: [UInt8] = []
        // The size is what the store says.
        content.reserveCapacity(min(size, FileEntry.partLimit))
        while content.count < size {
            let count = min(size - content.count, FileEntry.partLimit)
            let arguments: JSONObject = [
                "path": .string(path), "offset": .integer(Int64(content.count)), "count": .integer(Int64(count)),
                "tag": .string(entry.tag),
            ]
            let part = try await gate.repeating { timeout async throws(PluginError) in
                try await read(arguments, count: count, timeout)
            }
            content += part
        }
        return content
    }

    /// Reads a part that must have some number of bytes.
    private func read(_ arguments: JSONObject, count: Int, _ timeout: Duration) async throws(PluginError) -> [UInt8] {
        try await gate.call("get", arguments, timeout: timeout) { json throws(ConnectorError) -> [UInt8] in
            guard let bytes = json["base64"]?.string.flatMap(Base64.decode), bytes.count == count else {
                throw ConnectorError(.invalid, "expected a part of \(count) bytes")
            }
            return bytes
        }
    }

    /// Puts a file, replacing any file at its path. It becomes visible only as a whole.
    ///
    /// It begins again, three times at most, if the store no longer knows the upload: a reload may have put another instance in
    /// the place of the one to which it belongs. If the last call fails with an error that may pass, the file may be in place all the same:
    /// its answer may have been lost.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - content: The content.
    ///   - contentType: The media type, such as `text/plain`.
    ///   - condition: The condition that the path must meet; otherwise the call throws `conflict` and changes nothing.
    @discardableResult
    public func put(
        _ path: String,
        _ content: [UInt8],
        contentType: String? = nil,
        condition: FileCondition = .any
    ) async throws(PluginError) -> FileEntry {
        let request = FileUploadRequest(path, contentType: contentType, condition: condition)
        var attempts = Self.attemptLimit
        while true {
            let upload = try await gate.call("createUpload", ["file": request.json]) { json throws(ConnectorError) in
                try FileUpload(json: json)
            }
            do throws(PluginError) {
                for offset in stride(from: 0, to: content.count, by: upload.partSize) {
                    let part = content[offset..<min(offset + upload.partSize, content.count)]
                    let arguments: JSONObject = [
                        "upload": .string(upload.id), "offset": .integer(Int64(offset)),
                        "content": ["base64": .string(Base64.encode(Array(part)))],
                    ]
                    _ = try await gate.repeating { timeout async throws(PluginError) in
                        try await gate.call("uploadPart", arguments, timeout: timeout)
                    }
                }
                let arguments: JSONObject = ["upload": .string(upload.id), "size": .integer(Int64(content.count))]
                return try await gate.repeating { timeout async throws(PluginError) in
                    try await entry("completeUpload", arguments, timeout)
                }
            } catch {
                // A detached task, because this one may have been cancelled, and the call's deadline may have passed.
                await Task.detached { [gate] in
                    _ = try? await gate.call("abortUpload", ["upload": .string(upload.id)])
                }.value
                attempts -= 1
                guard attempts > 0, error.status == .notFound, !Task.isCancelled else { throw error }
            }
        }
    }

    /// Removes a file; it is not an error if there is none.
    public func remove(_ path: String) async throws(PluginError) {
        _ = try await gate.call("remove", ["path": .string(path)])
    }

    /// Copies a file within the store, replacing any file at the destination; throws `notFound` if the source does not
    /// exist.
    @discardableResult
    public func copy(_ source: String, to destination: String) async throws(PluginError) -> FileEntry {
        try await entry("copy", ["source": .string(source), "destination": .string(destination)])
    }

    private func entry(
        _ operation: String,
        _ arguments: JSONObject,
        _ timeout: Duration? = nil
    ) async throws(PluginError) -> FileEntry {
        try await gate.call(operation, arguments, timeout: timeout) { json throws(ConnectorError) in
            try FileEntry(json: json)
        }
    }
}
