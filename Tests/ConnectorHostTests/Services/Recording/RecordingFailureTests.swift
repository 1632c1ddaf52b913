// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Testing

@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Requests that got no response, in a recording and in its replay.
@Suite(.timeLimit(.minutes(5))) struct RecordingFailureTests {
    /// How a vendor fails without a response.
    enum Failure: CaseIterable {
        case refused, reset, broken, noTLS, noHTTP, timedOut, otherHost

        var status: Int32 {
            switch self {
            case .refused, .reset, .broken, .noTLS: Int32(CONNECTOR_UNAVAILABLE)
            case .noHTTP, .otherHost: Int32(CONNECTOR_PROTOCOL)
            case .timedOut: Int32(CONNECTOR_TIMED_OUT)
            }
        }
    }

    private static func server(_ failure: Failure, _ clock: ManualHostClock) -> LoopbackServer {
        // Nothing of a handshake of TLS is a whole request.
        LoopbackServer(readsRequests: failure != .noTLS) { _ in
            switch failure {
            case .refused, .reset: return .reset
            case .noTLS: return .raw("HTTP/1.1 400 No\r\n\r\n")
            case .broken: return .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
            case .noHTTP: return .raw("SSH-2.0-OpenSSH_9.2\r\n\r\n")
            case .timedOut:
                clock.advance(by: .seconds(2))
                return .stall
            case .otherHost: return .response(302, [("Location", "http://example.com/")], [])
            }
        }
    }

    @Test(arguments: Failure.allCases, [false, true])
    func `a failure without a response is recorded with its code, and replays as the same`(
        _ failure: Failure,
        _ isInParts: Bool
    ) async throws {
        let session = RecordingBench()
        let server = Self.server(failure, session.clock)
        defer { server.stop() }
        var base = server.url("")
        if failure == .refused { server.stop() }
        if failure == .noTLS { base = base.replacing("http://", with: "https://") }
        func ask(_ plugin: PluginSide, _ url: String, deadline: UInt64) async throws -> RequestEnd {
            guard isInParts else { return await plugin.request("GET", url + "/a", deadline: deadline) }
            let parts = try plugin.stream("GET", url + "/a", deadline: deadline)
            while true {
                let part = try #require(await parts.part())
                if part.isDone { return part }
            }
        }
        let deadline = failure == .timedOut ? session.clock.now() + 1_000_000_000 : .max
        let recorded = try await ask(session.plugin(), base, deadline: deadline)
        #expect(recorded.status == failure.status, "\(recorded.message)")
        let answer = try #require(session.answers.first)
        let hasBegun = failure == .broken && isInParts
        #expect(session.answers.count == 1 && (answer["status"] != nil) == hasBegun)
        #expect(answer["error"]?["code"]?.string == ConnectorError.Code(abiStatus: failure.status)?.rawValue)
        try await session.replay { plugin, url in
            for _ in 1...2 {
                let replayed = try await ask(plugin, url, deadline: .max)
                #expect(replayed.status == recorded.status && replayed.isRetryable == recorded.isRetryable)
                #expect(replayed.message == recorded.message)
            }
        }
    }

    @Test func `what a server says before it breaks off is recorded, and replayed before the failure`() async throws {
        let line = ScriptLine()
        let server = LoopbackServer { _ in
            .written { write in
                write(Array("HTTP/1.1 200 OK\r\nX-Kind: cut\r\nContent-Length: 9\r\n\r\nhalf".utf8))
                _ = line.next()
            }
        }
        defer { server.stop() }
        func ask(_ plugin: PluginSide, _ url: String) async throws -> String {
            let response = try plugin.stream("GET", url + "/a")
            let head = try #require(await response.next())
            #expect(head.code == 200 && head.fields["x-kind"] == "cut" && head.fields["connector-host-break"] == nil)
            #expect(await response.part()?.text == "half")
            line.send(nil)
            let end = try #require(await response.part())
            #expect(end.isDone && end.status == CONNECTOR_UNAVAILABLE, "\(end.text)")
            return end.message
        }
        let session = RecordingBench()
        let message = try await ask(session.plugin(), server.url(""))
        #expect(session.answers.first?["text"] == "half")
        try await session.replay { plugin, url in
            for _ in 1...2 {
                let again = try await ask(plugin, url)
                #expect(again == message)
            }
            let whole = await plugin.request("GET", url + "/a")
            #expect(whole.status == CONNECTOR_UNAVAILABLE && whole.message == message)
        }
    }

    @Test(arguments: [
        (#"{"id": 1, "access_token": "opensesame"#, false), (#" [{"Client-Secret":"opensesame","id":"\u00"#, false),
        (#"{"access_token":"opensesame"}"#, true), (#"{"id":"opensesame"#, true), ("token: opensesame", true),
    ])
    func `of a response that breaks off within JSON with a token, only the failure is recorded`(
        text: String,
        isRecorded: Bool
    ) async throws {
        let line = ScriptLine()
        let server = LoopbackServer { _ in
            .written { write in
                write(Array("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\(text)".utf8))
                _ = line.next()
            }
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        let response = try plugin.stream("GET", server.url("/a"))
        #expect(await response.next()?.code == 200)
        #expect(await response.part()?.text == text)
        line.send(nil)
        let end = try #require(await response.part())
        #expect(end.isDone && end.status == CONNECTOR_UNAVAILABLE, "\(end.message)")
        let answer = try #require(session.answers.first)
        #expect(session.answers.count == 1 && answer["error"]?["code"] == "unavailable")
        #expect((answer["status"] != nil) == isRecorded)
        let namesToken = text.contains("oken\"") || text.contains("Secret\"")
        #expect(session.text.contains("opensesame") != namesToken)
    }

    @Test func `what has arrived with a token is not recorded if the plugin wants no more of it`() throws {
        let session = RecordingBench()
        let plugin = session.plugin()
        for (path, text) in [
            ("/token", #"{"token":"opensesame"#), ("/event", #"data: {"token":"he"#), ("/text", #"data: {"id":"he"#),
        ] {
            let request = RequestTemplate(
                flags: 0,
                method: "GET",
                url: "http://a.example" + path,
                headers: [:],
                body: [],
                deadline: .max
            )
            let recorder = try #require(plugin.gate.recorder(of: request, isInParts: true))
            recorder.parts?.add(HTTPResponse(status: 200, body: Array(text.utf8)))
            recorder.end(.failure(ServiceFailure(status: Int32(CONNECTOR_CANCELLED), message: "cancelled")))
        }
        #expect(session.answers.map { $0["path"] } == ["/text"])
    }

    @Test func `a failure and the answer after it keep their order`() async throws {
        let count = CallCounter()
        let server = LoopbackServer { _ in
            count.add()
            return count.count == 1 ? .reset : .response(200, [], Array("ok".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("POST", server.url("/a")).status == CONNECTOR_UNAVAILABLE)
        #expect(await plugin.request("POST", server.url("/a")).text == "ok")
        try await session.replay { plugin, url in
            #expect(await plugin.request("POST", url + "/a").status == CONNECTOR_UNAVAILABLE)
            for _ in 1...2 { #expect(await plugin.request("POST", url + "/a").text == "ok") }
        }
    }

    @Test func `a failure that names the key is recorded without it`() async throws {
        let server = LoopbackServer { _ in .reset }
        server.stop()
        let session = RecordingBench()
        let plugin = PluginSide(
            host: HostServices(options: .init(clock: session.clock, http: .patient)),
            secrets: ["key": "127.0.0.1"],
            recording: RecordingTarget(session.file)
        )
        let end = await plugin.request("GET", "http://{{secret:key}}:\(server.port)/a")
        #expect(end.status == CONNECTOR_UNAVAILABLE, "\(end.message)")
        #expect(session.answers.first?["error"]?["code"] == "unavailable")
        #expect(!session.text.contains("127.0.0.1"))
    }

    @Test func `what has arrived for a call that is given up is not recorded as an answer`() async throws {
        let line = ScriptLine()
        let server = LoopbackServer { _ in
            .written { write in
                while let text = line.next() { write(Array(text.utf8)) }
            }
        }
        defer {
            line.send(nil)
            server.stop()
        }
        let session = RecordingBench()
        let plugin = session.plugin()
        let response = try plugin.stream("GET", server.url("/a"), during: 7)
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(await response.next()?.code == 200)
        #expect(await response.part()?.text == "half")
        plugin.gate.cancelCalls(during: 7)
        let end = try #require(await response.next())
        #expect(end.isDone && end.status == CONNECTOR_CANCELLED)
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(session.text.isEmpty)
    }

    @Test func `a request that the host itself refuses or cancels is not recorded`() async throws {
        let count = CallCounter()
        let server = LoopbackServer { _ in
            count.add()
            return .stall
        }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        #expect(await plugin.request("GET", "http://example.com/").status == CONNECTOR_DENIED)
        async let pending = plugin.request("GET", server.url("/a"))
        await count.reaches(1)
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(await pending.status == CONNECTOR_CANCELLED)
        #expect(session.text.isEmpty)
    }
}
