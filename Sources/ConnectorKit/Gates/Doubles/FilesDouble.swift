// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import Synchronization

/// A stand-in for a used gate of `files/1`, which keeps the files in memory and refuses what a store refuses.
public final class FilesDouble: Sendable {
    private struct Upload {
        var request: FileUploadRequest
        var content: [UInt8] = []
    }

    private struct State {
        var files: [ExactText: (entry: FileEntry, content: [UInt8])] = [:]
        var uploads: [String: Upload] = [:]
        var changes = 0
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp
    private let partSize: Int

    /// Starts empty.
    ///
    /// - Parameters:
    ///   - partSize: The largest part of an upload, in bytes, clamped to 1 to `FileEntry.partLimit`.
    ///   - now: Returns the time that a changed file gets.
    public init(
        partSize: Int = FileEntry.partLimit,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(nanoseconds: 0) }
    ) {
        self.partSize = min(max(1, partSize), FileEntry.partLimit)
        self.now = now
    }

    /// The content of a file; nil if there is none.
    public subscript(path: String) -> [UInt8]? { state.withLock { $0.files[ExactText(path)]?.content } }

    /// The number of uploads that have neither completed nor been aborted.
    public var uploads: Int { state.withLock(\.uploads.count) }

    /// The closure that answers in the gate's place.
    public var double: GateDoubles.Double {
        { [self] operation, arguments throws(PluginError) in
            func text(_ name: String) -> String { arguments[name]?.string ?? "" }
            func path(_ name: String = "path") throws(PluginError) -> String {
                try GateDoubles.checked { () throws(ConnectorError) in
                    try FilePathRule.check(text(name))
                    return text(name)
                }
            }
            switch operation {
            case "head": return try file(path()).entry.json
            case "list": return try list(text("prefix"), text("after"), arguments["limit"]?.integer)
            case "get": return try part(of: path(), arguments)
            case "createUpload": return try createUpload(arguments["file"] ?? .null)
            case "uploadPart":
                let part = arguments["content"]?["base64"]?.string.flatMap(Base64.decode) ?? []
                try add(part, to: text("upload"), at: arguments["offset"]?.integer ?? -1)
            case "completeUpload": return try complete(text("upload"), size: arguments["size"]?.integer)
            case "abortUpload": state.withLock { $0.uploads[text("upload")] = nil }
            case "remove":
                let removed = ExactText(try path())
                state.withLock { $0.files[removed] = nil }
            case "copy":
                let (source, destination) = (try path("source"), try path("destination"))
                let file = try file(source)
                return try put(file.content, FileUploadRequest(destination, contentType: file.entry.contentType))
            default: throw GateDoubles.unsupported(operation)
            }
            return .null
        }
    }

    private func file(_ path: String) throws(PluginError) -> (entry: FileEntry, content: [UInt8]) {
        guard let file = state.withLock({ $0.files[ExactText(path)] }) else {
            throw PluginError(.notFound, "there is no file \"\(path)\"")
        }
        return file
    }

    private func part(of path: String, _ arguments: JSONValue) throws(PluginError) -> JSONValue {
        guard let offset = arguments["offset"]?.integer.flatMap({ Int(exactly: $0) }),
            let count = arguments["count"]?.integer.flatMap({ Int(exactly: $0) }),
            offset >= 0, (1...FileEntry.partLimit).contains(count)
        else {
            throw PluginError(
                .invalid,
                "a part needs an offset of at least 0, and a count of 1 to \(FileEntry.partLimit)"
            )
        }
        let file = try file(path)
        if let tag = arguments["tag"]?.string, tag != file.entry.tag {
            throw PluginError(.conflict, "\"\(path)\" has changed since it had the tag")
        }
        let part = file.content.dropFirst(offset).prefix(count)
        return ["base64": .string(Base64.encode(Array(part)))]
    }

    private func list(_ prefix: String, _ after: String, _ limit: Int64?) throws(PluginError) -> JSONValue {
        let limit = Int(clamping: limit ?? 1000)
        try GateDoubles.checked { () throws(ConnectorError) in
            try FilePage.check(prefix: prefix, after: after, limit: limit)
        }
        let entries = state.withLock { $0.files.values.map(\.entry) }
            .filter { FileSelection(prefix: prefix, after: after).includes($0.path) }
            .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return FilePage(files: Array(entries.prefix(limit)), hasMore: entries.count > limit).json
    }

    private func createUpload(_ json: JSONValue) throws(PluginError) -> JSONValue {
        let request = try GateDoubles.checked { () throws(ConnectorError) in try FileUploadRequest(json: json) }
        let id = state.withLock { state in
            state.changes += 1
            state.uploads["\(state.changes)"] = Upload(request: request)
            return "\(state.changes)"
        }
        return FileUpload(id: id, partSize: partSize).json
    }

    /// Adds a part to an upload: the next one, or the last one again.
    private func add(_ part: [UInt8], to id: String, at offset: Int64) throws(PluginError) {
        try state.withLock { [partSize] state throws(PluginError) in
            guard var content = state.uploads[id]?.content else { throw Self.noUpload(id) }
            guard (1...partSize).contains(part.count), let start = Int(exactly: offset), start >= 0,
                start.isMultiple(of: partSize), (0...partSize).contains(content.count - start)
            else {
                throw PluginError(
                    .invalid,
                    "\(part.count) bytes at byte \(offset) are no part; all but the last have \(partSize) bytes"
                )
            }
            content.replaceSubrange(start..., with: part)
            state.uploads[id]?.content = content
        }
    }

    private static func noUpload(_ id: String) -> PluginError {
        PluginError(.notFound, "there is no upload \"\(id)\"")
    }

    private func complete(_ id: String, size: Int64?) throws(PluginError) -> JSONValue {
        guard let upload = state.withLock({ $0.uploads[id] }) else { throw Self.noUpload(id) }
        guard size == Int64(upload.content.count) else {
            throw PluginError(
                .invalid,
                "the upload has \(upload.content.count) bytes, not \(size.map { "\($0)" } ?? "an unknown number")"
            )
        }
        let entry = try put(upload.content, upload.request)
        state.withLock { $0.uploads[id] = nil }
        return entry
    }

    private func put(_ content: [UInt8], _ request: FileUploadRequest) throws(PluginError) -> JSONValue {
        let time = now()
        let entry = state.withLock { state -> FileEntry? in
            let tag = state.files[ExactText(request.path)]?.entry.tag
            guard request.condition.isMet(by: tag) else { return nil }
            state.changes += 1
            let entry = FileEntry(
                path: request.path,
                size: UInt64(content.count),
                modified: time,
                tag: "\(state.changes)",
                contentType: request.contentType
            )
            state.files[ExactText(request.path)] = (entry, content)
            return entry
        }
        guard let entry else { throw PluginError(.conflict, "the condition of \"\(request.path)\" is not met") }
        return entry.json
    }
}
