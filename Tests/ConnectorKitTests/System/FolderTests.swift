// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import folder

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The adapter that keeps files in a directory.
@Suite final class FolderTests {
    /// What lies around the adapter's directory, which nothing may reach.
    private let outside: String
    private var path: String { "\(outside)/files" }
    private let clock = StoppedClock()

    init() throws {
        var template = Array("/tmp/connector-folder-XXXXXX".utf8CString)
        outside = try unsafe String(cString: #require(mkdtemp(&template)))
    }

    deinit {
        Self.remove(outside)
    }

    private static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    private static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let start = unsafe UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            names.append(unsafe String(cString: start.assumingMemoryBound(to: CChar.self)))
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    /// The files of uploads that have not completed.
    private var uploads: [String] { Self.names(in: "\(path)/.connector-uploads") }

    /// An adapter whose directory is open.
    private func opened() async throws -> Folder {
        let fields: JSONObject = ["directory": .string(path)]
        let folder = try Folder(configuration: PluginConfiguration(fields), host: Host(clock: clock))
        _ = try await folder.open()
        return folder
    }

    private func failure(_ body: () async throws -> Void) async -> PluginError? {
        await #expect(throws: PluginError.self) { try await body() }
    }

    @discardableResult
    private func put(
        _ text: String,
        at path: String,
        _ folder: Folder,
        condition: FileCondition = .any
    ) async throws -> FileEntry {
        let upload = try await folder.createUpload(FileUploadRequest(path, condition: condition))
        do {
            if !text.isEmpty { try await folder.uploadPart(Array(text.utf8), of: upload.id, at: 0) }
            return try await folder.completeUpload(upload.id, size: UInt64(text.utf8.count), digest: nil)
        } catch {
            try await folder.abortUpload(upload.id)
            throw error
        }
    }

    private func text(_ path: String, _ folder: Folder) async throws -> String {
        String(decoding: try await folder.get(path, from: 0, count: 1 << 20, tag: nil), as: UTF8.self)
    }

    private func write(_ text: String, to name: String) throws {
        let file = unsafe open("\(outside)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    @Test func `files persist with their metadata, for their owner alone`() async throws {
        var folder = try await opened()
        let upload = try await folder.createUpload(FileUploadRequest("a/b.txt", contentType: "text/plain"))
        #expect(uploads == [upload.id])
        try await folder.uploadPart(Array("abc".utf8), of: upload.id, at: 0)
        #expect(Self.names(in: path) == [".connector-uploads"])
        let put = try await folder.completeUpload(upload.id, size: 3, digest: nil)
        #expect(put.digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(put.contentType == "text/plain" && put.size == 3)
        await folder.close()
        #expect(await failure { _ = try await folder.head("a/b.txt") }?.status == .notOpen)
        folder = try await opened()
        #expect(try await folder.head("a/b.txt") == put)
        #expect(try await text("a/b.txt", folder) == "abc")
        var status = stat()
        #expect(unsafe lstat("\(path)/a/b.txt", &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(unsafe lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(uploads == [])
        await folder.close()
    }

    @Test func `an upload whose caller has gone ends`() async throws {
        let folder = try await opened()
        let call = Deadline(.max)
        let answer = try await call.apply { try await folder.createUpload(file: FileUploadRequest("a").json) }
        #expect(uploads.count == 1 && uploads.first == answer["upload"]?.string)
        await call.undo()?.value
        #expect(uploads == [])
        await folder.close()
    }

    @Test func `parts come in order, and the last one may come again`() async throws {
        let folder = try await opened()
        let upload = try await folder.createUpload(FileUploadRequest("a"))
        let parts = [UInt8(1), 2, 3].map { [UInt8](repeating: $0, count: upload.partSize) }
        let size = UInt64(upload.partSize)
        try await folder.uploadPart(parts[0], of: upload.id, at: 0)
        #expect(
            await failure { try await folder.uploadPart(parts[2], of: upload.id, at: 2 * size) }?.status == .invalid
        )
        #expect(await failure { try await folder.uploadPart([1], of: upload.id, at: 1) }?.status == .invalid)
        for _ in 1...2 { try await folder.uploadPart(parts[1], of: upload.id, at: size) }
        #expect(await failure { try await folder.uploadPart(parts[0], of: upload.id, at: 0) }?.status == .invalid)
        try await folder.uploadPart([9], of: upload.id, at: 2 * size)
        // No part may follow a short one.
        #expect(await failure { try await folder.uploadPart([9], of: upload.id, at: 2 * size + 1) }?.status == .invalid)
        var hash = SHA256()
        for part in [parts[0], parts[1], [9]] { hash.update(part) }
        let short = await failure { _ = try await folder.completeUpload(upload.id, size: 2 * size, digest: nil) }
        #expect(short?.status == .invalid)
        let zeros = String(repeating: "0", count: 64)
        let other = await failure { _ = try await folder.completeUpload(upload.id, size: 2 * size + 1, digest: zeros) }
        #expect(other?.status == .invalid && other?.message.contains(hash.hexadecimal) == true)
        #expect(await failure { _ = try await folder.head("a") }?.status == .notFound)
        let put = try await folder.completeUpload(upload.id, size: 2 * size + 1, digest: hash.hexadecimal)
        #expect(put.digest == hash.hexadecimal)
        let part = try await folder.get("a", from: size - 1, count: upload.partSize + 5, tag: put.tag)
        #expect(part == [1] + parts[1] + [9])
        await folder.close()
    }

    @Test func `an upload that ends without a file leaves nothing`() async throws {
        let folder = try await opened()
        let aborted = try await folder.createUpload(FileUploadRequest("a"))
        try await folder.uploadPart([1], of: aborted.id, at: 0)
        for _ in 1...2 { try await folder.abortUpload(aborted.id) }
        #expect(uploads == [])
        #expect(await failure { try await folder.uploadPart([1], of: aborted.id, at: 1) }?.status == .notFound)
        _ = try await folder.createUpload(FileUploadRequest("b"))
        #expect(uploads.count == 1)
        await folder.close()
        #expect(uploads == [])
        #expect(Self.names(in: path) == [".connector-uploads"])
    }

    @Test func `leftovers of a dead process are removed, and uploads of other live ones stay`() async throws {
        let other = try await opened()
        let upload = try await other.createUpload(FileUploadRequest("a"))
        try await other.uploadPart([1], of: upload.id, at: 0)
        try write("half", to: "files/.connector-uploads/leftover")
        let folder = try await opened()
        #expect(uploads == [upload.id])
        _ = try await other.completeUpload(upload.id, size: 1, digest: nil)
        #expect(try await folder.head("a").size == 1)
        await folder.close()
        await other.close()
    }

    @Test func `symbolic links are neither followed, nor listed, nor written through`() async throws {
        let folder = try await opened()
        try write("secret", to: "secret")
        try #require(unsafe mkdir("\(outside)/other", 0o700) == 0)
        try write("secret", to: "other/file")
        try #require(unsafe symlink("../secret", "\(path)/link") == 0)
        try #require(unsafe symlink("../other", "\(path)/way") == 0)
        #expect(await failure { _ = try await folder.get("link", from: 0, count: 9, tag: nil) }?.status == .denied)
        #expect(
            await failure { _ = try await folder.get("way/file", from: 0, count: 9, tag: nil) }?.status == .notFound
        )
        // To Swift, a slash and a combining mark are one character; to the system, the slash is a slash.
        try write("secret", to: "other/\u{301}file")
        #expect(
            await failure { _ = try await folder.get("way/\u{301}file", from: 0, count: 9, tag: nil) }?.status
                == .notFound
        )
        #expect(await failure { try await put("x", at: "way/\u{301}new", folder) }?.status == .conflict)
        #expect(await failure { try await put("x", at: "way/file", folder) }?.status == .conflict)
        #expect(await failure { try await put("x", at: "way/new", folder) }?.status == .conflict)
        try await folder.remove("way/file")
        #expect(try await folder.list(prefix: "", after: "", limit: 10) == FilePage(files: [], hasMore: false))
        // A put replaces the link itself, and not what it leads to.
        try await put("x", at: "link", folder)
        #expect(try await text("link", folder) == "x")
        #expect(Self.names(in: "\(outside)/other").sorted() == ["file", "\u{301}file"])
        try #require(unsafe rename("\(outside)/secret", "\(path)/secret") == 0)
        #expect(try await text("secret", folder) == "secret")
        await folder.close()
    }

    @Test func `no file can be put into or read from the adapter's own directory`() async throws {
        let folder = try await opened()
        for path in [".connector-uploads", ".connector-uploads/a"] {
            #expect(await failure { try await put("x", at: path, folder) }?.status == .invalid)
            #expect(await failure { _ = try await folder.head(path) }?.status == .invalid)
        }
        try await put("x", at: "a/.connector-uploads", folder)
        #expect(try await folder.list(prefix: "", after: "", limit: 10).files.map(\.path) == ["a/.connector-uploads"])
        await folder.close()
    }

    @Test func `a digest is of the content that is there, whoever wrote it`() async throws {
        let folder = try await opened()
        let put = try await put("one", at: "a", folder)
        #expect(put.digest != nil)
        try write("another", to: "files/a")
        let head = try await folder.head("a")
        #expect(head.digest == nil && head.size == 7 && head.tag != put.tag)
        let error = await failure { _ = try await folder.get("a", from: 0, count: 9, tag: put.tag) }
        #expect(error?.status == .conflict)
        await folder.close()
    }

    @Test func `directories appear with their first file, and go with the last one`() async throws {
        let folder = try await opened()
        try await put("1", at: "a/b/c", folder)
        try await put("2", at: "a/d", folder)
        #expect(await failure { try await put("3", at: "a/b", folder) }?.status == .conflict)
        #expect(await failure { try await put("3", at: "a/b", folder, condition: .absent) }?.status == .conflict)
        #expect(await failure { try await put("3", at: "a/d/e", folder) }?.status == .conflict)
        #expect(await failure { _ = try await folder.head("a") }?.status == .notFound)
        try await folder.remove("a/b")
        try await folder.remove("a/b/c")
        #expect(Self.names(in: "\(path)/a") == ["d"])
        try await put("3", at: "a/b", folder)
        for name in ["a/b", "a/d"] { try await folder.remove(name) }
        #expect(Self.names(in: path) == [".connector-uploads"])
        #expect(uploads == [])
        await folder.close()
    }

    @Test func `a directory that was replaced is not used until the next probe opens the one that is there`()
        async throws
    {
        let folder = try await opened()
        try await put("1", at: "a", folder)
        let upload = try await folder.createUpload(FileUploadRequest("b"))
        try #require(unsafe rename(path, "\(outside)/kept") == 0 && mkdir(path, 0o700) == 0)
        let failures = [
            await failure { try await put("2", at: "c", folder) },
            await failure { _ = try await folder.completeUpload(upload.id, size: 0, digest: nil) },
            await failure { _ = try await folder.copy("a", to: "c") },
            await failure { try await folder.remove("a") },
            await failure { _ = try await folder.list(prefix: "", after: "", limit: 10) },
        ]
        for failure in failures {
            #expect(failure?.status == .unavailable && failure?.isRetryable == true)
            #expect(failure?.message.contains("removed or replaced") == true)
        }
        #expect(Self.names(in: path) == [])
        #expect(Self.names(in: "\(outside)/kept") == [".connector-uploads", "a"])
        _ = try await folder.probe()
        #expect(await failure { _ = try await folder.head("a") }?.status == .notFound)
        try await put("2", at: "a", folder)
        #expect(Self.names(in: path) == [".connector-uploads", "a"])
        await folder.close()
    }

    @Test func `a directory of uploads that was removed is made again by the next probe`() async throws {
        let folder = try await opened()
        try #require(unsafe rmdir("\(path)/.connector-uploads") == 0)
        #expect(await failure { try await put("1", at: "a", folder) } != nil)
        _ = try await folder.probe()
        try await put("1", at: "a", folder)
        #expect(Self.names(in: path) == [".connector-uploads", "a"])
        await folder.close()
    }

    @Test(arguments: ["/none/files", "/file/files", "/file"])
    func `a directory that cannot be used is an error that says why`(_ place: String) async throws {
        try write("", to: "file")
        let fields: JSONObject = ["directory": .string(outside + place)]
        let folder = try Folder(configuration: PluginConfiguration(fields), host: Host(clock: clock))
        let error = await failure { _ = try await folder.open() }
        #expect(error?.message.contains(outside + place) == true && error?.domain == "errno")
    }

    @Test func `too many uploads at once are refused, and one that ends makes room`() async throws {
        let folder = try await opened()
        var ids: [String] = []
        for number in 0..<256 { ids.append(try await folder.createUpload(FileUploadRequest("\(number)")).id) }
        let request = FileUploadRequest("more")
        #expect(await failure { _ = try await folder.createUpload(request) }?.status == .rateLimited)
        try await folder.abortUpload(ids[0])
        _ = try await folder.createUpload(request)
        // An upload that nobody adds to for an hour gives up its place.
        try await clock.sleep(for: .seconds(3599))
        try await folder.uploadPart([1], of: ids[1], at: 0)
        try await clock.sleep(for: .seconds(1))
        _ = try await folder.createUpload(request)
        #expect(uploads.count == 2)
        _ = try await folder.completeUpload(ids[1], size: 1, digest: nil)
        await folder.close()
        #expect(uploads == [])
    }

    @Test func `an upload that is created while the host closes does no harm`() async throws {
        let folder = try await opened()
        try await clock.sleep(for: .seconds(5))
        var ids = [try await folder.createUpload(FileUploadRequest("a")).id]
        clock.close()
        ids.append(try await folder.createUpload(FileUploadRequest("b")).id)
        for id in ids { try await folder.abortUpload(id) }
        #expect(uploads == [])
        await folder.close()
    }

    @Test func `a call whose deadline has passed when its turn comes does nothing`() async throws {
        let folder = try await opened()
        try await clock.sleep(for: .seconds(1))
        let late = await failure {
            try await Deadline.apply(clock.monotonic) { _ = try await put("x", at: "a", folder) }
        }
        #expect(late?.status == .timedOut)
        #expect(await failure { _ = try await folder.head("a") }?.status == .notFound)
        await folder.close()
    }

    #if os(Linux)
        /// A file system of 2 MiB in memory, which only root can make.
        @Test(.enabled(if: geteuid() == 0, "only root mounts"))
        func `a full disk refuses a part, and keeps what it has`()
            async throws
        {
            try #require(unsafe mkdir(path, 0o700) == 0)
            guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=2m") == 0 else {
                try Test.cancel("this root may not mount")
            }
            defer { _ = unsafe umount2(path, 2) }
            let folder = try await opened()
            try await put("kept", at: "a", folder)
            let upload = try await folder.createUpload(FileUploadRequest("b"))
            let part = [UInt8](repeating: 1, count: upload.partSize)
            let error = await failure {
                for number in 0..<3 as Range<UInt64> {
                    try await folder.uploadPart(part, of: upload.id, at: number * UInt64(part.count))
                }
            }
            #expect(error?.status == .unavailable && error?.message.contains("the disk is full") == true)
            try await folder.abortUpload(upload.id)
            #expect(try await text("a", folder) == "kept")
            try await put("more", at: "b", folder)
            await folder.close()
        }
    #endif
}
