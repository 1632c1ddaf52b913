// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Dispatch
import NIOCore
import Testing

@testable import ConnectorControl
@testable import ConnectorHost

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The API of a host on its socket.
@Suite(.timeLimit(.minutes(5))) struct ControlSocketTests {
    private func host() throws -> ConnectorHost {
        try ConnectorHost.testing(#"[{"name": "a", "plugin": "sync"}]"#, plugins: [Fixtures.good("sync")])
    }

    /// A directory of a test's own.
    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        var template = Array("/tmp/connector-control-XXXXXX".utf8CString)
        let path = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
        defer { _ = unsafe system("rm -rf '\(path)'") }
        try await body(path)
    }

    private func mode(_ path: String) -> UInt32? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? UInt32(status.st_mode) : nil
    }

    /// Serves a host while the body runs.
    private func serving(_ directory: String, _ body: () async throws -> Void) async throws {
        let server = ControlServer(ControlAPI(try host()), on: try ControlSocket(in: directory))
        async let end: Void = server.run()
        try await body()
        server.stop()
        try await end
    }

    @Test func `a client asks a host through its directory, however long the path is`() async throws {
        try await withDirectory { root in
            let directory = "\(root)/\(String(repeating: "long", count: 40))/state"
            #expect(try await ControlClient(directory).get("/api/v1/host") == nil)
            try await serving(directory) {
                let client = ControlClient(directory)
                let identity = try await client.get("/api/v1/host").flatMap(HostIdentity.init(json:))
                #expect(identity?.process == Int64(getpid()))
                #expect(try await client.get("/api/v1/status")?["state"]?.string == "closed")
                await #expect(throws: ConnectorError.self) { try await client.get("/nothing") }
                #expect(mode(directory).map { $0 & 0o777 } == 0o700)
                #expect(mode("\(directory)/control").map { $0 & 0o777 } == 0o600)
            }
            #expect(mode("\(directory)/control") == nil, "the socket is removed")
            #expect(try await ControlClient(directory).get("/api/v1/host") == nil)
        }
    }

    @Test func `each line of a stream is read as a document, wherever its parts end`() throws {
        var lines = ControlClient.Lines("/api/v1/events")
        var documents: [[JSONValue]] = []
        for part in ["{\"a\"", ": 1}\n{\"a\": 2}\n\n{", "\"a\": ", "3", "}\n"] {
            var bytes = ByteBuffer(string: "before \(part)")
            bytes.moveReaderIndex(forwardBy: 7)
            documents.append(try lines.feed(bytes.readableBytesView).map { try $0.get() })
        }
        #expect(documents == [[], [["a": 1], ["a": 2]], [], [], [["a": 3]]])
    }

    @Test func `a keep-alive leaves each line of a stream a document`() throws {
        let format = ControlStream.Format.lines
        let expected: [JSONValue] = [["a": 1], ["a": 2], ["a": 3]]
        let parts = expected.map { format.part("event", $0) }
        let sent = [format.keepAlive, format.keepAlive, parts[0], parts[1], format.keepAlive, parts[2]]
        let bytes = Array(sent.joined())
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(try lines.map { try JSONValue(parsing: String($0)) } == expected)
        var reader = ControlClient.Lines("/api/v1/events")
        let read = try reader.feed(ByteBuffer(bytes: bytes).readableBytesView).map { try $0.get() }
        #expect(read == expected)
    }

    @Test func `a line that cannot be read takes no other one of a stream with it`() throws {
        var lines = ControlClient.Lines("/api/v1/events")
        let levels = JSONParser.depthLimit
        let deepest = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let text = "{\"payload\": \(deepest)}\n{nothing}\n{\"a\": 2}\n"
        let found = try lines.feed(ByteBuffer(string: text).readableBytesView)
        #expect(found.count == 3)
        #expect(try found[0].get()["payload"] == JSONValue(parsing: deepest))
        let error = #expect(throws: ConnectorError.self) { try found[1].get() }
        #expect(error?.code == .protocolViolation && error?.message == "a line of /api/v1/events is not JSON")
        #expect(try found[2].get() == ["a": 2])
    }

    @Test func `a socket that an earlier host left is replaced, and one that a running host uses is not`() async throws
    {
        try await withDirectory { root in
            // Whatever kind of file it was.
            #expect(unsafe system("touch '\(root)/control'") == 0)
            let first = try ControlSocket(in: root)
            #expect(mode("\(root)/control").map { $0 & UInt32(S_IFMT) } == UInt32(S_IFSOCK))
            let error = #expect(throws: ConnectorError.self) { try ControlSocket(in: root) }
            #expect(error?.code == .conflict)
            close(first.descriptor)
        }
        try await withDirectory { root in
            // A socket on which nobody listens anymore.
            close(try ControlSocket(in: root).descriptor)
            #expect(mode("\(root)/control") != nil)
            #expect(try await ControlClient(root).get("/livez") == nil)
            try await serving(root) {
                let answer = try await ControlClient(root).get("/api/v1/host")
                #expect(answer != nil)
            }
        }
    }

    @Test func `a socket that was removed, even with its directory, is made again, and keeps other hosts out`()
        async throws
    {
        try await withDirectory { root in
            let directory = "\(root)/state"
            let first = try ControlSocket(in: directory)
            #expect(first.isInPlace)
            #expect(unsafe unlink("\(directory)/control") == 0)
            #expect(!first.isInPlace)
            let second = try ControlSocket(in: directory, after: first)
            #expect(second.isInPlace && !first.isInPlace)
            #expect(throws: ConnectorError.self) { try ControlSocket(in: directory) }
            first.remove()
            #expect(second.isInPlace, "each removes only its own file")
            #expect(unsafe system("rm -rf '\(directory)'") == 0)
            #expect(!second.isInPlace)
            let third = try ControlSocket(in: directory, after: second)
            #expect(third.isInPlace)
            third.remove()
            #expect(mode("\(directory)/control") == nil)
            for socket in [first, second, third] { close(socket.descriptor) }
        }
    }

    @Test func `a directory that others may enter is made private`() async throws {
        try await withDirectory { root in
            #expect(unsafe chmod(root, 0o755) == 0)
            close(try ControlSocket(in: root).descriptor)
            #expect(mode(root).map { $0 & 0o777 } == 0o700)
        }
    }

    @Test func `a host that breaks off the connection is told apart from one that does not run`() async throws {
        try await withDirectory { root in
            let socket = try ControlSocket(in: root)
            let answer = Task { try await ControlClient(root).get("/api/v1/host") }
            close(await blocking { accept(socket.descriptor, nil, nil) })
            let error = await #expect(throws: ConnectorError.self) { try await answer.value }
            #expect(error?.code == .unavailable && error?.message.contains("has closed the connection") == true)
            close(socket.descriptor)
        }
    }

    /// The error of a request to a program that listens in a directory and answers with a text.
    private func error(answering response: String, in root: String) async throws -> ConnectorError? {
        let socket = try ControlSocket(in: root)
        let answer = Task { try await ControlClient(root).get("/api/v1/host") }
        let descriptor = await blocking { accept(socket.descriptor, nil, nil) }
        let connection = RawSocket.Box(RawSocket(descriptor: descriptor))
        _ = await blocking { connection.value.read(until: "\r\n\r\n") }
        connection.value.send(response.utf8)
        let error = await #expect(throws: ConnectorError.self) { try await answer.value }
        close(socket.descriptor)
        return error
    }

    @Test func `a response that is no HTTP is said to be that, and no end of the connection`() async throws {
        try await withDirectory { root in
            let error = try await self.error(answering: "no HTTP\r\n\r\n", in: root)
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("closed the connection") == false, "\(error?.message ?? "")")
            #expect(error?.message.contains("/api/v1/host") == true && error?.cause?.isEmpty == false)
        }
    }

    @Test func `a response that is not JSON is said to be that, by whoever listens in the directory`() async throws {
        try await withDirectory { root in
            let error = try await self.error(answering: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", in: root)
            #expect(error?.code == .protocolViolation && error?.message.contains(root) == true)
            #expect(error?.message.contains("/api/v1/host") == true && error?.cause?.contains("'<'") == true)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a host that is too busy for a request says so, and that it may be tried again`() async throws {
        try await withDirectory { root in
            let isReadable = DispatchSemaphore(value: 0)
            let api = ControlAPI(try host()) {
                isReadable.wait()
                return PluginListing(PluginLookup(files: []).everything)
            }
            var limits = ServerLimits()
            limits.connections = 8
            let server = ControlServer(api, on: try ControlSocket(in: root), limits: limits)
            async let end: Void = server.run()
            // Seven eighths of the connections may have a request in progress.
            let busy = (0..<7).map { _ in
                Task { try await ControlClient(root).get("/api/v1/plugins", within: nil) }
            }
            while server.table.busyCount < 7 { try await Task.checkedYield() }
            let read = await #expect(throws: ConnectorError.self) {
                try await ControlClient(root).get("/api/v1/status")
            }
            let act = await #expect(throws: ConnectorError.self) {
                try await ControlClient(root).attempt("/api/v1/reload", [:])
            }
            for error in [read, act] {
                #expect(error?.code == .unavailable && error?.isRetryable == true)
                #expect(error?.cause == "too many requests are in progress")
            }
            for _ in busy { isReadable.signal() }
            for request in busy { #expect(try await request.value != nil) }
            server.stop()
            try await end
        }
    }

    /// In a process of its own, which gives up the rights of root.
    @Test func `a directory that this user may not enter is an error, and not the absence of a host`() async {
        await #expect(processExitsWith: .success) {
            var template = Array("/tmp/connector-control-XXXXXX".utf8CString)
            let path = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
            try #require(unsafe chmod(path, 0) == 0)
            let isRoot = geteuid() == 0
            if isRoot { try #require(seteuid(65_534) == 0) }
            let error = #expect(throws: ConnectorError.self) { try ControlSocket.connect(in: path) }
            if isRoot { try #require(seteuid(0) == 0) }
            unsafe rmdir(path)
            #expect(error?.code == .denied)
        }
    }

    // MARK: Clients that break the rules

    /// Sends bytes, and reads until the server closes the connection.
    private func exchange(_ text: String, in directory: String) async throws -> String {
        let socket = try #require(try ControlSocket.connect(in: directory))
        return await blocking {
            defer { close(socket) }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            var answer: [UInt8] = []
            while true {
                let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                    count = max(0, unsafe recv(socket, buffer.baseAddress, buffer.count, 0))
                }
                guard !bytes.isEmpty else { return String(decoding: answer, as: UTF8.self) }
                answer += bytes
            }
        }
    }

    @Test func `huge bodies and headers, and what is not HTTP, are refused, and the server lives on`() async throws {
        try await withDirectory { root in
            try await serving(root) {
                let head = "POST /api/v1/status HTTP/1.1\r\nHost: x\r\n"
                let huge = String(repeating: "x", count: ControlAPI.bodyLimit * 4)
                let large = try await exchange("\(head)Content-Length: \(huge.utf8.count)\r\n\r\n\(huge)", in: root)
                #expect(large.hasPrefix("HTTP/1.1 413 ") && large.contains("FilesClient") || large.isEmpty)
                let fields = String(repeating: "X-Y: \(String(repeating: "z", count: 1000))\r\n", count: 100)
                let wide = try await exchange("GET /livez HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", in: root)
                #expect(wide.hasPrefix("HTTP/1.1 4") || wide.isEmpty)
                for nonsense in ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
                    let answer = try await exchange(nonsense, in: root)
                    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.0 4"))
                }
                let alive = try await exchange("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", in: root)
                #expect(alive.hasPrefix("HTTP/1.1 200 ") && alive.hasSuffix("\r\n\r\nok\n"))
                let twice = try await exchange(
                    "HEAD /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                    in: root
                )
                #expect(twice.split(separator: "HTTP/1.1 200").count == 2 && twice.hasSuffix("ok\n"))
            }
        }
    }

    @Test func `idle connections, however many, keep no client out`() async throws {
        try await withDirectory { root in
            let server = ControlServer(ControlAPI(try host()), on: try ControlSocket(in: root))
            async let end: Void = server.run()
            let limit = ControlServer.limits.connections
            var idle: [Int32] = []
            for _ in 0..<(limit + 100) { idle.append(try #require(try ControlSocket.connect(in: root))) }
            let request = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            for _ in 0..<10 { #expect(try await exchange(request, in: root).hasSuffix("ok\n")) }
            #expect(server.table.count <= limit)
            for socket in idle { close(socket) }
            server.stop()
            try await end
        }
    }
}

/// Runs what blocks on a thread of its own, so that the server under test has those that it needs.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}
