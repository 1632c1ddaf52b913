// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Keeps files in a directory of this machine, and never leaves it: symbolic links in it are not followed.
///
/// All work runs on one thread that may wait for the disk.
final class Folder: FilesPlugin {
    private let path: String
    private let host: Host
    private let thread = DiskThread()
    /// Only the thread takes the lock, so there is no contention.
    private let state = Mutex(State())

    private struct State {
        var root: FolderRoot?
        var uploads: [String: FolderUpload] = [:]
    }

    /// The most uploads at once; each holds a file open.
    private static let uploadLimit = 256
    /// How long an upload may be idle, in nanoseconds, before a new upload displaces it: its caller may have given up
    /// without aborting it.
    private static let patience: UInt64 = 3_600_000_000_000
    /// The size of parts, in bytes.
    private static let partSize = 1 << 20

    init(configuration: PluginConfiguration, host: Host) throws {
        path = try configuration.string("directory")
        self.host = host
    }

    /// Opens the directory, or proves that it is still there; creates it if it does not exist. Removes the leftovers of
    /// earlier processes' uploads.
    func open() async throws -> [Evidence] {
        let free = try await onThread { [path, host] state, _ throws(PluginError) -> UInt64 in
            if let root = state.root, root.isInPlace, root.hasUploads { return try root.proveWritable() }
            if state.root != nil {
                host.log.log(
                    .warning,
                    "the directory, or the one of uploads in it, was removed or replaced while it was open"
                )
            }
            // Uploads into the vanished directory end with it.
            state = State()
            let root = try FolderRoot(path)
            try root.removeLeftovers()
            state.root = root
            return try root.proveWritable()
        }
        return [.reachable("a file was made in the directory, \(free >> 20) MiB are free")]
    }

    /// Ends the uploads under way, and closes the directory.
    func close() async {
        _ = try? await thread.result { [self] in state.withLock { $0 = State() } }
    }

    func head(_ path: String) async throws -> FileEntry {
        try await perform { root, _ throws(PluginError) in
            try root.file(path).entry()
        }
    }

    func list(prefix: String, after: String, limit: Int) async throws -> FilePage {
        try await perform { root, call throws(PluginError) in
            var listing = FolderListing(root, prefix: prefix, after: after, limit: limit, during: call)
            return try listing.page()
        }
    }

    func get(_ path: String, from offset: UInt64, count: Int, tag: String?) async throws -> [UInt8] {
        try await perform { root, _ throws(PluginError) in
            let file = try root.file(path)
            let bytes = try file.read(from: offset, count: count)
            // Check afterwards, so that a write by another program meanwhile counts.
            if let tag, try file.status().tag != tag {
                throw PluginError(.conflict, "\"\(path)\" has changed since it had the tag")
            }
            return bytes
        }
    }

    func createUpload(_ request: FileUploadRequest) async throws -> FileUpload {
        try await onThread { [clock = host.clock] state, _ throws(PluginError) in
            let root = try Self.root(of: state)
            let now = clock.monotonic
            // The clock reads 0 once the host has closed.
            state.uploads = state.uploads.filter { $0.value.usedAt + Self.patience > now }
            guard state.uploads.count < Self.uploadLimit else {
                throw PluginError(
                    .rateLimited,
                    "\(Self.uploadLimit) uploads are under way; complete or abort one first"
                )
            }
            let upload = try FolderUpload(request, in: root, partSize: Self.partSize)
            upload.usedAt = now
            state.uploads[upload.id] = upload
            return FileUpload(id: upload.id, partSize: Self.partSize)
        }
    }

    func uploadPart(_ content: [UInt8], of upload: String, at offset: UInt64) async throws {
        try await onThread { [clock = host.clock] state, _ throws(PluginError) in
            let upload = try Self.upload(upload, of: state)
            upload.usedAt = clock.monotonic
            try upload.write(content, at: offset)
        }
    }

    func completeUpload(_ upload: String, size: UInt64, digest: String?) async throws -> FileEntry {
        try await onThread { state, _ throws(PluginError) in
            let entry = try Self.upload(upload, of: state).complete(size: size, digest: digest)
            state.uploads[upload] = nil
            return entry
        }
    }

    func abortUpload(_ upload: String) async throws {
        try await onThread { state, _ throws(PluginError) in
            state.uploads[upload] = nil
        }
    }

    func remove(_ path: String) async throws {
        try await perform { root, _ throws(PluginError) in
            try root.remove(path)
        }
    }

    func copy(_ source: String, to destination: String) async throws -> FileEntry {
        try await perform { root, call throws(PluginError) in
            let file = try root.file(source)
            let (status, request) = (try file.status(), FileUploadRequest(destination, contentType: file.contentType))
            let upload = try FolderUpload(request, in: root, partSize: Self.partSize)
            var offset: UInt64 = 0
            while true {
                if let end = call.end { throw end }
                let part = try file.read(from: offset, count: Self.partSize)
                guard !part.isEmpty else { break }
                try upload.write(part, at: offset)
                offset += UInt64(part.count)
            }
            guard try file.status().tag == status.tag else {
                throw PluginError(.conflict, "\"\(source)\" changed while it was copied")
            }
            return try upload.complete(size: offset, digest: nil)
        }
    }

    private static func root(of state: State) throws(PluginError) -> FolderRoot {
        guard let root = state.root else { throw PluginError(.notOpen, "the directory is not open") }
        // A file put into the open directory would be missing from the one now at its path.
        guard root.isInPlace else { throw FolderFailure.moved }
        return root
    }

    private static func upload(_ id: String, of state: State) throws(PluginError) -> FolderUpload {
        guard let upload = state.uploads[id] else {
            throw PluginError(
                .notFound,
                "there is no upload \"\(id.prefix(40))\"; it may have ended, or the gate closed"
            )
        }
        _ = try root(of: state)
        return upload
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (FolderRoot, DiskCall) throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        try await onThread { state, call throws(PluginError) in try body(Self.root(of: state), call) }
    }

    /// Runs work on the thread, unless the call has ended by the time its turn comes.
    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable (inout State, DiskCall) throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let call = DiskCall(clock: host.clock, on: "disk")
        return try await thread.result(for: call) { [self] () throws(PluginError) in
            try state.withLock { state throws(PluginError) in try body(&state, call) }
        }
    }
}
