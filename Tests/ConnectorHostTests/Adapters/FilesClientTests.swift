// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import ConnectorTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Files as an application uses them, kept in a directory.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct FilesClientTests {
    private let directory = ScratchDirectory()

    /// The connectors of a file: one that keeps files in a directory, below a composite.
    private func connectors(_ folder: String = "files") -> String {
        // In a runner, the sandbox would hide the directory.
        let leaf = """
            {"name": "a", "plugin": "folder", "sandbox": "off", "config": {"directory": "\(directory.path)/\(folder)"}}
            """
        return #"[{"name": "files", "policy": "first", "connectors": [\#(leaf)]}]"#
    }

    private func host() async throws -> ConnectorHost {
        let host = try ConnectorHost.testing(connectors(), plugins: [try BuiltProducts.library("folder")])
        try await host.open().requireReady()
        return host
    }

    private var uploads: [String] { directory.names(in: "/files/.connector-uploads") }

    @Test func `the adapter keeps the contract of its capability`() async throws {
        let host = try await host()
        #expect(try await FilesConformance.check(host.files("files/a")) == [])
        await host.close()
        #expect(directory.names(in: "/files") == [".connector-uploads"])
        #expect(uploads == [])
    }

    @Test func `content comes from memory, from a sequence, and from a file, with progress`() async throws {
        let host = try await host()
        let files = try host.files("files/a")
        let content = Array(repeatElement(Array("0123456789abcdef".utf8), count: 160_000).joined())
        directory.write(content, to: "local")
        let pieces = AsyncStream<[UInt8]> { continuation in
            for start in stride(from: 0, to: content.count, by: 300_007) {
                continuation.yield(Array(content[start..<min(start + 300_007, content.count)]))
                continuation.yield([])
            }
            continuation.finish()
        }
        let total = UInt64(content.count)
        for (source, size) in [
            (.bytes(content), total), (.pieces(pieces), nil), (.file("\(directory.path)/local"), total),
        ] as [(FileSource, UInt64?)] {
            let told = Journal<FileProgress>()
            let put = try await files.put("a", source) { told.note($0) }
            #expect(put.size == total && put.digest?.utf8.count == 64)
            #expect(told.values.map(\.transferred) == [1 << 20, 2 << 20, total])
            #expect(told.values.allSatisfy { $0.total == size })
            let read = Journal<FileProgress>()
            var found: [UInt8] = []
            for try await part in try await files.get("a", progress: { read.note($0) }) { found += part }
            #expect(found == content)
            #expect(read.values == [FileProgress(transferred: total, total: total)])
        }
        await host.close()
    }

    @Test(arguments: [Int.min, -1, 0, 1001, Int.max])
    func `a page that is too small or too large is refused with the number that was given`(_ limit: Int) async throws {
        let host = try await host()
        let files = try host.files("files")
        let error = try await failure { () async throws(ConnectorError) in try await files.list(limit: limit) }
        #expect(error.code == .invalid && error.connector == "files", "\(error)")
        #expect(error.message == "limit is \(limit); it must be 1 to 1000")
        await host.close()
    }

    @Test func `a put whose task is cancelled leaves nothing`() async throws {
        let host = try await host()
        let files = try host.files("files/a")
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield([UInt8](repeating: 1, count: 1 << 20))
        let (sent, told) = AsyncStream<Void>.makeStream()
        let put = Task { try await files.put("a", .pieces(pieces)) { _ in told.yield() } }
        for await _ in sent { break }
        #expect(uploads.count == 1)
        put.cancel()
        let error = await #expect(throws: ConnectorError.self) { try await put.value }
        #expect(error?.code == .cancelled)
        #expect(uploads == [])
        #expect(try await files.list().files == [])
        await host.close()
    }

    @Test func `puts that are cancelled while their uploads begin leave none`() async throws {
        let host = try await host()
        let files = try host.files("files/a")
        // More than the store lets be under way.
        for number in 0..<300 {
            let put = Task { try await files.put("a", .bytes([1])) }
            // One turn later each time, until every step of a put has been the last one.
            for _ in 0..<(number % 50) { await Task.yield() }
            put.cancel()
            _ = await put.result
            #expect(uploads == [], "put \(number)")
        }
        #expect(try await files.put("a", .bytes([1])).size == 1)
        await host.close()
    }

    @Test(arguments: ["shorter", "longer", "other bytes"])
    func `a local file that changes while it is put is not put`(_ change: String) async throws {
        let host = try await host()
        let files = try host.files("files/a")
        let directory = directory
        let (path, size) = ("\(directory.path)/local", 3 << 20)
        directory.write([UInt8](repeating: 1, count: size), to: "local")
        let earlier = [timespec](repeating: timespec(tv_sec: 1, tv_nsec: 0), count: 2)
        #expect(unsafe utimensat(AT_FDCWD, path, earlier, 0) == 0)
        let error = try await failure { () async throws(ConnectorError) in
            try await files.put("a", .file(path)) { progress in
                guard progress.transferred == 1 << 20 else { return }
                let count = change == "shorter" ? size / 2 : change == "longer" ? size + 1 : size
                directory.write([UInt8](repeating: 2, count: count), to: "local")
            }
        }
        #expect(error.code == .unreadable && error.message.hasPrefix("\(path) changed while it was read"), "\(error)")
        #expect(try await files.list().files == [] && uploads == [])
        try await files.put("a", .file(path))
        await host.close()
    }

    @Test(arguments: ["", "local\u{0}.png", "files", "absent"])
    func `what is no file is not put, and the error names the connector and what to do`(_ name: String) async throws {
        let host = try await host()
        let files = try host.files("files/a")
        directory.write([1], to: "local")
        let path = name.isEmpty ? "" : "\(directory.path)/\(name)"
        let error = try await failure { () async throws(ConnectorError) in try await files.put("a", .file(path)) }
        #expect(error.code == .unreadable && error.connector == "files/a" && error.fix != nil, "\(error)")
        #expect(try await files.list().files == [] && uploads == [])
        await host.close()
    }

    @Test func `an error of a sequence names the connector`() async throws {
        struct Failure: Error {}
        let host = try await host()
        let files = try host.files("files/a")
        let broken = AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Failure()) }
        let error = try await failure { () async throws(ConnectorError) in try await files.put("a", .pieces(broken)) }
        #expect(error.code == .failed && error.connector == "files/a" && error.fix != nil, "\(error)")
        #expect(uploads == [])
        await host.close()
    }

    @Test func `a put of pieces whose upload ends with a reload is aborted, and may be tried again`() async throws {
        let host = try await host()
        let files = try host.files("files/a")
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield([UInt8](repeating: 1, count: 1 << 20))
        let (sent, told) = AsyncStream<Void>.makeStream()
        let put = Task { try await files.put("a", .pieces(pieces)) { _ in told.yield() } }
        for await _ in sent { break }
        let next = try Configuration(parsing: #"{"version": 1, "connectors": \#(connectors("others"))}"#)
        #expect(await host.reload(next).isActive)
        continuation.yield([2])
        continuation.finish()
        let error = await #expect(throws: ConnectorError.self) { try await put.value }
        #expect(error?.code == .aborted && error?.isRetryable == true && error?.connector == "files/a")
        #expect(try await files.list().files == [])
        #expect(try await files.put("a", .bytes([1])).size == 1)
        await host.close()
    }

    /// A gate whose uploads are answered as the test says.
    private func simulated(
        _ operations: JSONValue,
        _ clock: ManualHostClock = ManualHostClock()
    ) async throws -> ConnectorHost {
        let host = try ConnectorHost.testing(
            #"[{"name": "files", "plugin": "folder", "probe": "off", "config": {"directory": "/nowhere"}}]"#,
            plugins: ["\(Fixtures.sources)/../../Plugins/folder/folder.connector.json"],
            simulating: ["files": ["version": 1, "operations": operations]],
            clock: clock
        )
        try await host.open().requireReady()
        return host
    }

    @Test func `a put of bytes begins again if another instance does not know its upload`() async throws {
        let host = try await simulated([
            ["operation": "createUpload", "times": 1, "result": ["upload": "first", "partSize": 4]],
            ["operation": "createUpload", "result": ["upload": "second", "partSize": 4]],
            [
                "operation": "uploadPart", "when": ["upload": "first", "offset": 4],
                "error": ["code": "missing", "message": "there is no upload first"],
            ],
            ["operation": "uploadPart"],
            ["operation": "abortUpload"],
            [
                "operation": "completeUpload", "when": ["upload": "second"],
                "result": ["path": "a", "size": 6, "modified": "2026-01-01T00:00:00.000Z", "tag": "t"],
            ],
        ])
        let told = Journal<FileProgress>()
        let entry = try await host.files("files").put("a", .bytes([1, 2, 3, 4, 5, 6])) { told.note($0) }
        #expect(entry.size == 6 && entry.tag == "t")
        #expect(told.values.map(\.transferred) == [4, 4, 6])
        await host.close()
    }

    /// A store with a file of one byte, which refuses an operation a number of times.
    private func refusing(
        _ operation: String,
        _ times: Int64,
        _ refusal: JSONValue,
        _ clock: ManualHostClock
    ) async throws -> ConnectorHost {
        let entry: JSONValue = ["path": "a", "size": 1, "modified": "2026-01-01T00:00:00.000Z", "tag": "t"]
        return try await simulated(
            [
                ["operation": .string(operation), "times": .integer(times), "error": refusal],
                ["operation": "createUpload", "result": ["upload": "u", "partSize": 4]],
                ["operation": "uploadPart"],
                ["operation": "abortUpload"],
                ["operation": "completeUpload", "result": entry],
                ["operation": "head", "result": entry],
                ["operation": "get", "result": ["base64": "AQ=="]],
            ],
            clock
        )
    }

    /// Transfers one byte: by a get, or by a put.
    private static func transfer(
        _ operation: String,
        _ files: FilesClient,
        _ options: CallOptions = CallOptions()
    ) async throws {
        if operation == "get" {
            #expect(try await files.get("a", options: options).collect(upTo: 1) == [1])
        } else {
            #expect(try await files.put("a", .bytes([1]), options: options).tag == "t")
        }
    }

    private static let transfers = ["uploadPart", "completeUpload", "get"]

    @Test(
        .timeLimit(.minutes(5)),
        arguments: transfers,
        [
            (["code": "unavailable", "message": "no answer"], [.milliseconds(500), .seconds(1)]),
            (["code": "rate-limited", "message": "slow down", "retryAfter": "7s"], [.seconds(7), .seconds(7)]),
        ] as [(JSONValue, [Duration])]
    )
    func `a call whose error may pass is made three times at most, after the waits that the store asks for`(
        _ operation: String,
        _ refused: (error: JSONValue, pauses: [Duration])
    ) async throws {
        for failures in [2, 3] as [Int64] {
            let clock = ManualHostClock()
            let host = try await refusing(operation, failures, refused.error, clock)
            let files = try host.files("files")
            let task = Task { try await Self.transfer(operation, files) }
            for pause in refused.pauses { await clock.advance(toTimerAfter: pause) }
            if failures == 2 {
                try await task.value
            } else {
                let error = await #expect(throws: ConnectorError.self) { try await task.value }
                #expect(error?.code.rawValue == refused.error["code"]?.string)
            }
            #expect(host.report["files"]?.calls?.failures == UInt64(failures))
            await host.close()
        }
    }

    @Test(
        arguments: transfers,
        [
            ["code": "unavailable", "message": "no answer", "retryAfter": "30s"],
            ["code": "conflict", "message": "there is one"],
            ["code": "too-large", "message": "a gateway's limit", "retryable": true],
        ] as [JSONValue]
    )
    func `a call is not repeated if the wait does not fit into its timeout, or nothing may pass`(
        _ operation: String,
        _ refusal: JSONValue
    ) async throws {
        let host = try await refusing(operation, 1, refusal, ManualHostClock())
        let files = try host.files("files")
        let error = await #expect(throws: ConnectorError.self) {
            try await Self.transfer(operation, files, CallOptions(timeout: .seconds(30)))
        }
        #expect(error?.code.rawValue == refusal["code"]?.string)
        #expect(host.report["files"]?.calls?.failures == 1)
        await host.close()
    }

    @Test(.timeLimit(.minutes(5)), arguments: transfers)
    func `a transfer whose task is cancelled while it waits ends at once`(_ operation: String) async throws {
        let clock = ManualHostClock()
        let refusal: JSONValue = ["code": "unavailable", "message": "no answer"]
        let host = try await refusing(operation, 1, refusal, clock)
        let files = try host.files("files")
        let task = Task { try await Self.transfer(operation, files) }
        await clock.timer(dueAfter: .milliseconds(500))
        task.cancel()
        let error = await #expect(throws: ConnectorError.self) { try await task.value }
        #expect(error?.code == .cancelled && !clock.hasTimer(dueAfter: .milliseconds(500)))
        await host.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a put whose upload ends with a call that fails has the reason of that call`() async throws {
        let clock = ManualHostClock()
        let host = try await simulated(
            [
                ["operation": "createUpload", "result": ["upload": "u", "partSize": 4]],
                ["operation": "uploadPart", "times": 1, "error": ["code": "unavailable", "message": "no answer"]],
                ["operation": "uploadPart", "error": ["code": "missing", "message": "there is no upload"]],
                ["operation": "abortUpload"],
            ],
            clock
        )
        let files = try host.files("files")
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield([1])
        continuation.finish()
        let put = Task { try await files.put("a", .pieces(pieces)) }
        await clock.advance(toTimerAfter: .milliseconds(500))
        let error = await #expect(throws: ConnectorError.self) { try await put.value }
        #expect(error?.code == .aborted && error?.message.contains("the attempt before failed: no answer") == true)
        await host.close()
    }

    @Test func `a put begins three times at most`() async throws {
        let host = try await simulated([
            ["operation": "createUpload", "result": ["upload": "first", "partSize": 4]],
            ["operation": "uploadPart", "error": ["code": "missing", "message": "there is no upload first"]],
            ["operation": "abortUpload"],
        ])
        let files = try host.files("files")
        let error = try await failure { () async throws(ConnectorError) in try await files.put("a", .bytes([1])) }
        #expect(error.code == .aborted && error.isRetryable)
        #expect(error.cause?.contains("there is no upload first") == true)
        #expect(host.report["files"]?.calls?.total == 9)
        await host.close()
    }

    @Test func `a source that cannot be read is an error that names its path, before anything is sent`() async throws {
        let host = try await host()
        let files = try host.files("files/a")
        for path in ["\(directory.path)/none", directory.path] {
            let error = try await failure { () async throws(ConnectorError) in try await files.put("a", .file(path)) }
            #expect(error.code == .unreadable && error.message.contains(path))
        }
        #expect(host.report["files/a"]?.calls == nil)
        await host.close()
    }

    @Test func `content beyond the limit is not read into memory`() async throws {
        let host = try await host()
        let files = try host.files("files/a")
        try await files.put("a", .bytes([1, 2, 3]))
        let contents = try await files.get("a")
        let error = try await failure { () async throws(ConnectorError) in try await contents.collect(upTo: 2) }
        #expect(error.code == .tooLarge)
        #expect(try await contents.collect(upTo: 3) == [1, 2, 3])
        await host.close()
    }

    @Test func `a size that a store only claims takes no memory`() async throws {
        let entry = FileEntry(path: "a", size: 1 << 62, modified: Timestamp(nanoseconds: 0), tag: "t")
        let contents = FileContents(entry: entry, range: nil, progress: nil) { _, _, _ throws(ConnectorError) in
            throw ConnectorError(.unavailable, "the store is away")
        }
        let error = try await failure { () async throws(ConnectorError) in try await contents.collect(upTo: .max) }
        #expect(error.code == .unavailable)
    }

    @Test func `files of a composite can be read, and an upload to it is refused`() async throws {
        let host = try await host()
        try await host.files("files/a").put("a", .bytes([1]))
        let files = try host.files("files")
        #expect(try await files.get("a").collect(upTo: 1) == [1])
        let error = try await failure { () async throws(ConnectorError) in try await files.put("b", .bytes([1])) }
        #expect(error.code == .unsupported && error.fix == "name one of its leaves")
        await host.close()
    }

    @Test func `reading content that was damaged on the disk is an error`() async throws {
        let host = try await host()
        let files = try host.files("files/a")
        try await files.put("a", .bytes(Array("content".utf8)))
        let path = "\(directory.path)/files/a"
        var status = stat()
        #expect(unsafe stat(path, &status) == 0)
        // As a disk does it: other bytes, of the same size, at the same time.
        directory.write(Array("kontent".utf8), to: "files/a")
        let times = [status.st_atim, status.st_mtim]
        #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
        let contents = try await files.get("a")
        let error = try await failure { () async throws(ConnectorError) in try await contents.collect(upTo: 100) }
        #expect(error.code == .misbehaved && error.message.contains("was damaged"))
        await host.close()
    }
}
