// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import InMemoryLogging
import Logging
import Testing

@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What a gate and its vendor say, as a file.
@Suite(.timeLimit(.minutes(5))) struct GateRecordingTests {
    private func vendor() -> LoopbackServer {
        LoopbackServer { request in
            let date = ("Date", "Wed, 25 Nov 2026 10:00:0\(request.text.count % 10) GMT")
            let id = ("X-Request-Id", "\(UInt64.random(in: .min ... .max))")
            let body = #"{"asked":"\#(request.line)","n":1.50}"#
            return .response(
                200,
                [date, id, ("Content-Type", "application/json"), ("ETag", "\"7\"")],
                Array(body.utf8)
            )
        }
    }

    @Test func `two recordings of the same requests are equal byte for byte, in whatever order they came`() async throws
    {
        let server = vendor()
        defer { server.stop() }
        let requests = [
            "/v1/b", "/v1/a?key={{secret:key}}&page=2", "/v1/a?page=2", "/v1/b?x=1", "/v1/{{secret:key}}/c",
        ]
        let (one, two) = (RecordingBench(), RecordingBench())
        let (first, second) = (one.plugin(), two.plugin())
        for path in requests { #expect(await first.request("GET", server.url(path)).code == 200) }
        let url = server.url("")
        await withTaskGroup(of: Void.self) { group in
            for path in requests.reversed() + requests {
                group.addTask { #expect(await second.request("GET", url + path).code == 200) }
            }
        }
        #expect(one.text == two.text)
        #expect(one.answers.count == requests.count)
        #expect(one.answers.first?["headers"] == ["content-type": "application/json", "etag": "\"7\""])
        #expect(!one.text.contains("time"))
        #expect(one.directory.permissions(of: "vendor.json") == 0o600)
        #expect(one.directory.names() == ["vendor.json"])
    }

    @Test func `equal requests keep their answers in order, each as often as it came`() async throws {
        let count = CallCounter()
        let server = LoopbackServer { _ in
            count.add()
            return .response(200, [], Array((count.count < 3 ? "pending" : "done").utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        for _ in 1...5 { _ = await plugin.request("GET", server.url("/job")) }
        #expect(session.answers.map { $0["text"] } == ["pending", "done"])
        #expect(session.answers.map { $0["times"] } == [2, nil])
        try await session.replay { plugin, url in
            var texts: [String] = []
            for _ in 1...5 { texts.append(await plugin.request("GET", url + "/job").text) }
            #expect(texts == ["pending", "pending", "done", "done", "done"])
        }
    }

    @Test func `a file that already exists is kept, and the log says so once`() async throws {
        let server = vendor()
        defer { server.stop() }
        let session = RecordingBench()
        session.directory.write(Array("mine".utf8), to: "vendor.json")
        let plugin = session.plugin()
        for _ in 1...2 { #expect(await plugin.request("GET", server.url("/a")).code == 200) }
        #expect(session.text == "mine")
        let entries = plugin.log.entries.filter { "\($0.message)".contains("recording") }
        #expect(entries.count == 1)
        let fix = entries.first?.metadata["fix"].map { "\($0)" }
        #expect(fix?.contains("the file exists and is kept") == true)
    }

    @Test func `a recording ends when it is full or after ten minutes, and keeps what it has`() async throws {
        let full = RecordingBench()
        let limit = 64 << 10
        let recording = GateRecording(
            RecordingTarget(full.file),
            clock: full.clock,
            workers: WorkerThreads(),
            limit: limit
        )
        for path in ["/1", "/2", "/3", "/4"] {
            let request = RequestTemplate(
                flags: 0,
                method: "GET",
                url: "http://a.example\(path)",
                headers: [:],
                body: [],
                deadline: .max
            )
            let response = HTTPResponse(status: 200, body: Array(repeating: 0x61, count: 20 << 10))
            recording.add(.success(response), to: request, below: "", Redactor(), Logger(label: "test"))
        }
        #expect(full.answers.map { $0["path"] } == ["/1", "/2", "/3"])
        #expect(full.text.utf8.count < limit)
        let server = LoopbackServer { _ in .response(200, [], []) }
        defer { server.stop() }
        let late = RecordingBench()
        let plugin = late.plugin()
        #expect(await plugin.request("GET", server.url("/1")).code == 200)
        late.clock.advance(by: .seconds(601))
        #expect(await plugin.request("GET", server.url("/2")).code == 200)
        #expect(late.answers.map { $0["path"] } == ["/1"])
        #expect(plugin.log.entries.contains { "\($0.message)".contains("the recording has ended") })
    }

    private func request(_ path: String) -> RequestTemplate {
        RequestTemplate(
            flags: 0,
            method: "GET",
            url: "http://a.example\(path)",
            headers: [:],
            body: [],
            deadline: .max
        )
    }

    @Test func `a call is left out if a response to it was, as its case would end otherwise`() throws {
        let session = RecordingBench()
        let recording = GateRecording(RecordingTarget(session.file), clock: session.clock, workers: WorkerThreads())
        let (redactor, logger) = (Redactor(), Logger(label: "test"))
        for (number, text) in [#"{"id":0}"#, #"{"token":"opensesame"} {}"#, #"{"id":2}"#].enumerated() {
            let before = recording.leftOut
            let response = HTTPResponse(status: 200, body: Array(text.utf8))
            recording.add(.success(response), to: request("/\(number)"), below: "", redactor, logger)
            let call = GateCallEnd(
                operation: "database/get",
                arguments: ["id": .integer(Int64(number))],
                result: .success(true),
                leftOutBefore: before
            )
            recording.add(call, redactor, logger)
        }
        #expect(session.answers.map { $0["path"] } == ["/0", "/2"])
        let calls = try JSONValue(document: Array(session.text.utf8))["calls"]?.array ?? []
        #expect(calls.map { $0["arguments"]?["id"] } == [0, 2])
    }

    @Test func `a response that is longer than a recording may be ends it unread`() {
        let session = RecordingBench()
        let recording = GateRecording(
            RecordingTarget(session.file),
            clock: session.clock,
            workers: WorkerThreads(),
            limit: 1 << 10
        )
        let redactor = Redactor()
        let (known, long, late) = ("opensesame", "1029384756", "zyxwvutsrq")
        for (path, token, size) in [("/short", known, 1), ("/long", long, 2 << 10), ("/late", late, 1)] {
            let text = "{\"token\":\"\(token)\",\"a\":\"\(String(repeating: "x", count: size))\"}"
            let response = HTTPResponse(status: 200, body: Array(text.utf8))
            recording.add(.success(response), to: request(path), below: "", redactor, Logger(label: "test"))
        }
        #expect(session.answers.map { $0["path"] } == ["/short"])
        #expect(redactor.redact(known) == Secret.mask)
        for token in [long, late] { #expect(redactor.redact(token) == token) }
    }

    @Test func `a recording has the fields of a file in S3, and not those that name a request`() throws {
        let session = RecordingBench()
        let recording = GateRecording(RecordingTarget(session.file), clock: session.clock, workers: WorkerThreads())
        let response = HTTPResponse(
            status: 200,
            headers: [
                "x-amz-meta-sha256": "9f86d081", "x-amz-bucket-region": "eu-central-1", "x-amz-cf-pop": "FRA56-C1",
                "x-amz-request-id": "4442587FB7D0A2F9", "x-amz-id-2": "vlR7PnpV2Ce81l0PRw6j",
            ]
        )
        recording.add(.success(response), to: request("/a"), below: "", Redactor(), Logger(label: "test"))
        let headers = try #require(session.answers.first?["headers"])
        #expect(headers == ["x-amz-bucket-region": "eu-central-1", "x-amz-meta-sha256": "9f86d081"])
    }

    @Test func `a recording keeps what has room in it, and counts what has not`() {
        let limit = 16 << 10
        let answers = (0..<200).map { number -> JSONValue in
            let path = JSONValue.string("/\(number)")
            return ["method": "GET", "path": path, "times": 1, "status": 200, "json": ["a": [1, ["b": "x\ny"]]]]
        }
        let call: JSONValue = ["operation": "a/1/b", "result": [[]]]
        var list = RecordedAnswerList(limit: limit)
        list.add(part: ["answers": .array(answers), "calls": [call]])
        let size = list.document(isPart: true).utf8(pretty: true).count + 1
        #expect(size <= limit && size > limit - 2048)
        #expect(list.count > 20 && list.leftOut == answers.count - list.count + 1)
        // Nothing follows what has no room, however short it is.
        list.add(part: ["calls": [call]])
        #expect(list.document()["calls"] == nil)
    }

    @Test(arguments: [200, 418, 599, 600, 999]) func `a response of any status is replayed`(status: Int) async throws {
        let server = LoopbackServer { _ in .response(status, [], Array("ok".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        #expect(await session.plugin().request("GET", server.url("/a")).code == UInt32(status))
        try await session.replay { plugin, url in
            let end = await plugin.request("GET", url + "/a")
            #expect(end.code == UInt32(status) && end.text == "ok", "\(end.message)")
        }
    }

    @Test func `a response that no answer can give is not recorded`() {
        let session = RecordingBench()
        let recording = GateRecording(RecordingTarget(session.file), clock: session.clock, workers: WorkerThreads())
        let request = RequestTemplate(
            flags: 0,
            method: "GET",
            url: "http://a.example/",
            headers: [:],
            body: [],
            deadline: .max
        )
        recording.add(.success(HTTPResponse(status: 101)), to: request, below: "", Redactor(), Logger(label: "test"))
        #expect(session.text.isEmpty)
    }

    @Test func `bodies that are not text, answers to HEAD, and responses in parts are replayed`() async throws {
        let server = LoopbackServer { request in
            switch request.line.split(separator: " ").dropFirst().first {
            case "/raw": .response(200, [("Content-Type", "image/png")], [0x89, 0x50, 0, 0xFF, 0x0D])
            case "/head": .raw("HTTP/1.1 200 OK\r\nContent-Length: 123456789\r\nETag: \"x\"\r\n\r\n")
            default:
                .written { write in
                    write(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
                    for part in ["one,", "two"] { write(Array("\(part.utf8.count)\r\n\(part)\r\n".utf8)) }
                    write(Array("0\r\n\r\n".utf8))
                }
            }
        }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async throws {
            #expect(await plugin.request("GET", url + "/raw").body == [0x89, 0x50, 0, 0xFF, 0x0D])
            let head = await plugin.request("HEAD", url + "/head")
            #expect(head.fields["content-length"] == "123456789" && head.fields["etag"] == "\"x\"" && head.body.isEmpty)
            let parts = try plugin.stream("GET", url + "/parts")
            #expect(await parts.next()?.code == 200)
            var text = ""
            while let part = await parts.part(), !part.isDone { text += part.text }
            #expect(text == "one,two")
        }
        try await ask(session.plugin(), server.url(""))
        #expect(session.answers.count == 3)
        try await session.replay { try await ask($0, $1) }
    }
}
