// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Requests that are sent again, as a kept connection has closed without an answer.
@Suite(.timeLimit(.minutes(5))) struct HTTPRepetitionTests {
    @Test(arguments: [
        ("GET", "If-Match", true), ("PUT", "X-None", true), ("PUT", "If-Match", false), ("PUT", "If-None-Match", false),
        ("PUT", "If-Unmodified-Since", false), ("DELETE", "X-None", false), ("POST", "X-None", false),
        ("PATCH", "X-None", false),
    ])
    func `a request on a kept connection that closes without an answer is repeated if the answer is the same`(
        method: String,
        field: String,
        isRepeated: Bool
    ) async {
        let count = Atomic(0)
        let server = LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 2 ? .raw("") : .response(204)
        }
        defer { server.stop() }
        let plugin = PluginSide()
        // After a body with one of the others, the connection would close.
        let body: [UInt8] = ["PUT", "POST", "PATCH"].contains(method) ? [1] : []
        #expect(await plugin.request(method, server.url(), body: body).code == 204)
        let end = await plugin.request(method, server.url(), fields: [(field, "x")], body: body)
        #expect(end.code == (isRepeated ? 204 : 0))
        #expect(end.status == (isRepeated ? CONNECTOR_OK : CONNECTOR_UNAVAILABLE), "\(end.message)")
        #expect(server.requests.count == (isRepeated ? 3 : 2))
        #expect(server.connectionCount == (isRepeated ? 2 : 1))
    }

    @Test func `a request is repeated until its connection is a new one`() async {
        let gathering = Gathering(of: 5)
        let count = Atomic(0)
        let server = LoopbackServer { _ in
            switch count.add(1, ordering: .relaxed).newValue {
            case ...5:
                gathering.arrive()
                return .response(204)
            case ...10: return .raw("")
            default: return .response(204)
            }
        }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(http: .lasting())))
        let codes = await withTaskGroup { group in
            for _ in 0..<5 { group.addTask { await plugin.request("GET", server.url()).code } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: 204, count: 5))
        #expect(await plugin.request("GET", server.url()).code == 204)
        #expect(server.requests.count == 11 && server.connectionCount == 6)
    }

    @Test func `a repeated request fails if its new connection closes, too`() async {
        let count = Atomic(0)
        let server = LoopbackServer { _ in
            count.add(1, ordering: .relaxed).newValue == 1 ? .response(204) : .raw("")
        }
        defer { server.stop() }
        let plugin = PluginSide()
        #expect(await plugin.request("GET", server.url()).code == 204)
        let end = await plugin.request("GET", server.url())
        #expect(end.status == CONNECTOR_UNAVAILABLE && end.message.contains("closed the connection"), "\(end.message)")
        #expect(server.requests.count == 3 && server.connectionCount == 2)
    }
}
