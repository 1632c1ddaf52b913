// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Testing

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
        #expect(session.answers.count == 1 && answer["status"] == nil)
        #expect(answer["error"]?["code"]?.string == ConnectorError.Code(abiStatus: failure.status)?.rawValue)
        try await session.replay { plugin, url in
            for _ in 1...2 {
                let replayed = try await ask(plugin, url, deadline: .max)
                #expect(replayed.status == recorded.status && replayed.isRetryable == recorded.isRetryable)
                #expect(replayed.message == recorded.message)
            }
        }
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
        #expect(!session.text.contains("127.0.0.1") && session.text.contains("redacted"))
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
