// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import ConnectorDigest
import Logging
import Testing

@testable import ConnectorPlatform
@testable import ConnectorServices

/// Bodies of requests that are no text, or long, and files that grow long.
@Suite(.timeLimit(.minutes(5))) struct RecordedBodyTests {
    private static let bytes: [UInt8] = [0x89, 0x50, 0, 0xFF, 0x0D, 0xC3]
    private static let long = Array(String(repeating: #"{"a":"0123456789"}"#, count: 4000).utf8)

    @Test func `bodies that are no text, or long, choose their answers`() async throws {
        let server = LoopbackServer { request in .response(200, [], Array("\(request.body.count)".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async {
            for body in [Self.bytes, Self.bytes + [1], Self.long, Self.long + Array(" ".utf8), Self.bytes + Self.long] {
                let end = await plugin.request("POST", url + "/a", body: body)
                #expect(end.text == "\(body.count)", "\(end.message)")
                let packed = await plugin.request(
                    "POST",
                    url + "/z",
                    body: body,
                    flags: UInt32(CONNECTOR_HTTP_GZIP_BODY)
                )
                #expect(packed.code == 200, "\(packed.message)")
            }
        }
        await ask(session.plugin(), server.url(""))
        let conditions = session.answers.filter { $0["path"] == "/a" }.compactMap { $0["when"] }
        #expect(conditions.count == 5 && session.answers.count == 10)
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

    /// Bodies with the key between bytes that are no text, in every form that a vendor might read.
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

    @Test func `a body that the host puts the key into replays with another`() async throws {
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
        // Short: anew for each answer.
        add(10)
        #expect(session.answers.count == 10)
        while number < 100, session.answers.count == number { add(1) }
        let written = session.answers.count
        #expect(written > 10 && written < number)
        session.clock.advance(by: .nanoseconds(Int64(GateRecording.delay)))
        while session.answers.count < number { await Task.yield() }
        while number < 200, session.answers.count < number { add(1) }
        #expect(session.answers.count == number && number < 200)
        add(1)
        #expect(session.answers.count < number)
        await services.stop()
        #expect(session.answers.count == number)
    }
}
