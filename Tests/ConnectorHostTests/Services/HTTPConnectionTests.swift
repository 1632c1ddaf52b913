// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// How many connections there are, and for how long.
@Suite(.timeLimit(.minutes(5))) struct HTTPConnectionTests {
    /// Lets nobody go on before all are there.
    private final class Gathering: Sendable {
        private let waiting = Monitor(0)
        private let count: Int

        init(of count: Int) {
            self.count = count
        }

        /// Blocks the calling thread until so many threads have arrived.
        func arrive() {
            waiting.withLock { $0 += 1 }
            waiting.signal()
            waiting.wait { [count] arrived in arrived >= count ? .proceed(()) : .wait(until: nil) }
            // The signal woke one thread; each one wakes the next.
            waiting.signal()
        }
    }

    @Test func `all requests to an origin have the event loop of its connections`() throws {
        let first = try HTTPTransport.loop(for: #require(URLParts("http://127.0.0.1:8080/a")))
        let second = try HTTPTransport.loop(for: #require(URLParts("http://127.0.0.1:8080/b?c")))
        #expect(first === second)
    }

    @Test(arguments: [1, 24, HTTPOptions().connectionsPerHost])
    func `as many requests run at once as there may be connections to one host, and the others wait`(limit: Int) async {
        let gathering = Gathering(of: limit)
        let server = LoopbackServer { _ in
            gathering.arrive()
            return .response(204)
        }
        defer { server.stop() }
        var options = HTTPOptions.patient
        options.connectionsPerHost = limit
        options.idleTimeout = .seconds(3600)
        let plugin = PluginSide(host: HostServices(options: .init(http: options)))
        let codes = await withTaskGroup { group in
            for _ in 0..<(limit + 8) { group.addTask { await plugin.request("GET", server.url()).code } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: 204, count: limit + 8))
        #expect(server.connectionCount == limit)
    }

    @Test func `there is at least one connection per host`() {
        var options = HTTPOptions()
        options.connectionsPerHost = -3
        #expect(options.connectionsPerHost == 1)
    }

    @Test func `a connection without a request is closed after the idle timeout`() async {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        var options = HTTPOptions.patient
        options.idleTimeout = .zero
        let plugin = PluginSide(host: HostServices(options: .init(http: options)))
        #expect(await plugin.request("GET", server.url()).code == 204)
        await server.ended.reaches(1)
    }

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
        #expect(await plugin.request(method, server.url(), body: [1]).code == 204)
        let end = await plugin.request(method, server.url(), fields: [(field, "x")], body: [1])
        #expect(end.code == (isRepeated ? 204 : 0))
        #expect(end.status == (isRepeated ? CONNECTOR_OK : CONNECTOR_UNAVAILABLE), "\(end.message)")
        #expect(server.requests.count == (isRepeated ? 3 : 2))
        #expect(server.connectionCount == (isRepeated ? 2 : 1))
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

    @Test func `requests name the version of connector-host, unless the application says otherwise`() {
        var options = HTTPOptions()
        #expect(options.identifyingHost().userAgent == "connector-host/\(ConnectorHost.version)")
        options.userAgent = "shop/2.1"
        #expect(options.identifyingHost().userAgent == "shop/2.1")
        options.userAgent = "shop\r\nX-More: y"
        #expect(options.userAgent == "shop  X-More: y", "a header ends at a line break")
    }
}
