// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import ConnectorDigest
import ConnectorTestSupport
import Logging
import Testing

@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Bodies of requests that are not text, or long, and files that grow long.
@Suite(.timeLimit(.minutes(5))) struct RecordedBodyTests {
    private static let bytes: [UInt8] = [0x89, 0x50, 0, 0xFF, 0x0D, 0xC3]
    private static let long = Array(String(repeating: #"{"a":"0123456789"}"#, count: 4000).utf8)

    @Test(arguments: [
        ("{\n  \"price\": 1.10,\n  \"id\": 0.1234567890123456789\n}\n", false),
        (#"{"a":1e2,"b":-0,"c":"\u00e9\/"}"#, false), ("[1, 2]", false), ("12345678901234567890", false),
        (#"{"n":1.5,"a":[true,null,"é"]}"#, true), ("\"•••\"", true), ("•••", false),
    ])
    func `the body of a response has the same bytes in the replay, whole, in parts, and of a range`(
        text: String,
        isJSON: Bool
    ) async throws {
        let body = Array(text.utf8)
        let server = LoopbackServer { request in
            request.fields["range"] == nil ? .response(200, [], body) : .response(206, [], Array(body.prefix(2)))
        }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async throws {
            #expect(await plugin.request("GET", url + "/a").body == body)
            let range = await plugin.request("GET", url + "/a", fields: [("Range", "bytes=0-1")])
            #expect(range.code == 206 && range.body == Array(body.prefix(2)), "\(range.message)")
            let parts = try plugin.stream("GET", url + "/parts")
            #expect(await parts.next()?.code == 200)
            var received: [UInt8] = []
            while let part = await parts.part(), !part.isDone { received += part.body }
            #expect(received == body)
        }
        try await ask(session.plugin(), server.url(""))
        let whole = try #require(session.answers.first { $0["path"] == "/parts" })
        #expect((whole["json"] != nil) == isJSON)
        try await session.replay { try await ask($0, $1) }
    }

    @Test func `JSON that is nested as deeply as a plugin may read it is recorded and replayed`() async throws {
        let depth = JSONParser.vendorDepthLimit
        let body = Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        let server = LoopbackServer { .response(200, [], $0.body) }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async {
            let end = await plugin.request("POST", url + "/a", body: body)
            #expect(end.body == body, "\(end.message)")
        }
        await ask(session.plugin(), server.url(""))
        let answer = try #require(session.answers.first)
        #expect(answer["json"] != nil && answer["when"]?["body"]?.array != nil)
        try await session.replay { await ask($0, $1) }
    }

    @Test func `bodies that are long or not text select their answers`() async throws {
        let server = LoopbackServer { request in .response(200, [], Array("\(request.body.count)".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async {
            for body in [Self.bytes, Self.bytes + [1], Self.long, Self.long + Array(" ".utf8), Self.bytes + Self.long] {
                let end = await plugin.request("POST", url + "/a", body: body)
                #expect(end.text == "\(body.count)", "\(end.message)")
                for (path, isVerbatim) in [("/z", false), ("/y", true)] {
                    let more = isVerbatim ? UInt32(CONNECTOR_HTTP_VERBATIM_BODY) : 0
                    let flags = UInt32(CONNECTOR_HTTP_GZIP_BODY) | more
                    let packed = await plugin.request("POST", url + path, body: body, flags: flags)
                    #expect(packed.code == 200, "\(packed.message)")
                }
            }
        }
        await ask(session.plugin(), server.url(""))
        let conditions = session.answers.filter { $0["path"] == "/a" }.compactMap { $0["when"] }
        #expect(conditions.count == 5 && session.answers.count == 15)
        #expect(conditions.contains(["base64": .string(Base64.encode(Self.bytes))]))
        #expect(conditions.contains(["sha256": .string(SHA256Digest(of: Self.long).description)]))
        #expect(session.text.utf8.count < 8 << 10)
        try await session.replay { plugin, url in
            await ask(plugin, url)
            for body in [[0xFF], Self.long + Self.long] {
                let end = await plugin.request("POST", url + "/a", body: body)
                #expect(end.status == CONNECTOR_FAILED && end.message.contains("the body is "), "\(end.message)")
            }
        }
    }

    /// Bodies with the key between bytes that are not text, in every form that a vendor might read.
    @Test(arguments: RecordingRedactionTests.Form.allCases, [false, true])
    func `a body with a key is in no recording, neither as bytes nor as their digest`(
        _ form: RecordingRedactionTests.Form,
        _ isLong: Bool
    ) async throws {
        let server = LoopbackServer { _ in .response(200, [], Array("ok".utf8)) }
        defer { server.stop() }
        let filler = isLong ? Self.long : []
        for padding in 0..<(isLong ? 1 : 3) {
            let start = Array(repeating: UInt8(0xFE), count: padding) + [0xFF, 0x20]
            let body = start + Array(form.text.utf8) + [0x20, 0xFF] + filler
            let session = RecordingBench()
            #expect(await session.plugin().request("POST", server.url("/a"), body: body).code == 200)
            #expect(session.answers.map { $0["when"] } == [nil], "\(form)")
            let digest = SHA256Digest(of: body).description
            for text in [form.text, Base64.encode(body), digest] { #expect(!session.text.contains(text), "\(form)") }
        }
    }

    @Test func `a body in parts selects its answer, as one that is sent whole does`() async throws {
        let server = LoopbackServer { .response(201, [], $0.body) }
        defer { server.stop() }
        func send(_ plugin: PluginSide, _ url: String, _ texts: [String]) async throws -> RequestEnd? {
            let request = try plugin.stream("PUT", url + "/a", length: .max)
            for (index, text) in texts.enumerated() {
                await request.rooms.reaches(index)
                #expect(request.write(text, isLast: index == texts.count - 1) == CONNECTOR_OK)
            }
            let head = await request.next()
            guard head?.isDone == false else { return head }
            while let part = await request.part(), !part.isDone {}
            return head
        }
        let long = String(decoding: Self.long, as: UTF8.self)
        let session = RecordingBench()
        let plugin = session.plugin()
        for texts in [["one,", "two"], [RecordingBench.key, "!"], [long, long]] {
            #expect(try await send(plugin, server.url(""), texts)?.code == 201)
        }
        let conditions = session.answers.map { $0["when"] }
        let digest = SHA256Digest(of: Self.long + Self.long).description
        #expect(conditions.contains(["body": "one,two"]) && conditions.contains(["body": "*!"]))
        #expect(conditions.contains(["sha256": .string(digest)]))
        try await session.replay { plugin, url in
            for texts in [["one", ",two"], ["another!"], [long + long]] {
                #expect(try await send(plugin, url, texts)?.code == 201)
            }
            let end = try #require(try await send(plugin, url, ["one", "three"]))
            #expect(end.status == CONNECTOR_FAILED && end.message.contains("the body is "), "\(end.message)")
        }
    }

    @Test(arguments: [0, 1]) func `a body is compared up to 256 KiB, and a longer one fits any`(more: Int) async throws
    {
        let server = LoopbackServer { request in .response(200, [], Array("\(request.body.count)".utf8)) }
        defer { server.stop() }
        let body = [UInt8](repeating: 0x61, count: 256 << 10 + more)
        let session = RecordingBench()
        #expect(await session.plugin().request("PUT", server.url("/a"), body: body).code == 200)
        let digest: JSONValue = ["sha256": .string(SHA256Digest(of: body).description)]
        #expect(session.answers.map { $0["when"] } == [more == 0 ? digest : JSONValue?.none])
        try await session.replay { plugin, url in
            let other = await plugin.request("PUT", url + "/a", body: [0x62] + body.dropFirst())
            #expect((other.status == CONNECTOR_FAILED) == (more == 0), "\(other.message)")
        }
    }

    @Test func `a body in parts that is not sent to its end is not compared`() throws {
        let session = RecordingBench()
        let plugin = session.plugin()
        for (path, hasLast) in [("/broken", false), ("/whole", true)] {
            let request = RequestTemplate(
                flags: CONNECTOR_HTTP_BODY_IN_PARTS,
                method: "PUT",
                url: "http://a.example" + path,
                headers: [:],
                body: [],
                deadline: .max
            )
            let recorder = try #require(plugin.gate.recorder(of: request, isInParts: true))
            recorder.addSent(Array("one".utf8), isLast: hasLast)
            recorder.end(.failure(.timedOut("no answer in time")))
        }
        #expect(session.answers.map { $0["path"] } == ["/broken", "/whole"])
        #expect(session.answers.map { $0["when"] } == [nil, ["body": "one"]])
    }

    @Test func `a multipart body is compared without its boundaries, which differ each time`() async throws {
        let server = LoopbackServer { _ in .response(200, [], Array("ok".utf8)) }
        defer { server.stop() }
        func send(_ plugin: PluginSide, _ url: String, _ boundary: String, _ value: String) async -> RequestEnd {
            let part = "Content-Disposition: form-data; name=\"key\"\r\n\r\n\(value)"
            return await plugin.request(
                "POST",
                url + "/a",
                fields: [("Content-Type", "multipart/form-data; charset=utf-8; Boundary=\"\(boundary)\";\u{301}=a")],
                body: Array("--\(boundary)\r\n\(part)\r\n--\(boundary)--\r\n".utf8)
            )
        }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await send(plugin, server.url(""), "x-1/7", "{{secret:key}}, value").code == 200)
        let part = "Content-Disposition: form-data; name=\"key\"\r\n\r\n*, value"
        #expect(session.answers.map { $0["when"] } == [["body": .string("--*\r\n\(part)\r\n--*--\r\n")]])
        try await session.replay { plugin, url in
            #expect(await send(plugin, url, "another", "{{secret:key}}, value").text == "ok")
            let end = await send(plugin, url, "third", "{{secret:key}}, other")
            #expect(end.status == CONNECTOR_FAILED && end.message.contains("the body is "), "\(end.message)")
        }
    }

    @Test func `a body that the host puts the key into replays with another key`() async throws {
        let server = LoopbackServer { _ in .response(200, [], Array("ok".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async {
            for filler in [Self.bytes, Self.long] {
                let body = filler + Array("{{secret:key}}".utf8)
                let end = await plugin.request("POST", url + "/a", body: body)
                #expect(end.text == "ok", "\(end.message)")
            }
        }
        await ask(session.plugin(), server.url(""))
        #expect(session.answers.map { $0["when"] } == [nil])
        try await session.replay { await ask($0, $1) }
    }

    @Test func `a long file is written when it has grown by an eighth, after a second, and at the end`() async throws {
        let session = RecordingBench()
        let services = HostServices(options: .init(clock: session.clock, http: .patient))
        let recording = services.recording(of: RecordingTarget(session.file))
        var number = 0
        func add(_ count: Int) {
            for _ in 0..<count {
                number += 1
                let request = RequestTemplate(
                    flags: 0,
                    method: "GET",
                    url: "http://a.example/\(number)",
                    headers: [:],
                    body: [],
                    deadline: .max
                )
                let response = HTTPResponse(status: 200, body: Array(repeating: 0x61, count: 1 << 10))
                recording.add(.success(response), to: request, below: "", Redactor(), Logger(label: "test"))
            }
        }
        // While it is short, the file is written again for each answer.
        add(10)
        #expect(session.answers.count == 10)
        while number < 100, session.answers.count == number { add(1) }
        let written = session.answers.count
        #expect(written > 10 && written < number)
        session.clock.advance(by: .nanoseconds(Int64(GateRecording.delay)))
        while session.answers.count < number { try await Task.checkedYield() }
        while number < 200, session.answers.count < number { add(1) }
        #expect(session.answers.count == number && number < 200)
        add(1)
        #expect(session.answers.count < number)
        await services.stop()
        #expect(session.answers.count == number)
    }
}
