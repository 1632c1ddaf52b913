// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import NIOCore
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#endif

/// How many connections there are, and for how long.
@Suite(.timeLimit(.minutes(5))) struct HTTPConnectionTests {
    @Test func `all requests of a gate have one event loop until its last instance has ended`() throws {
        let host = HostServices(options: .init(http: .patient))
        let instances = (0..<3).map { _ in GateConnections(options: .patient) }
        let first = try host.http.network(of: "gate", for: instances[0])
        let second = try host.http.network(of: "gate", for: instances[1])
        #expect(first.loop === second.loop)
        host.http.end(instances[0])
        #expect(try host.http.network(of: "gate", for: instances[1]).names === first.names)
        host.http.end(instances[1])
        #expect(throws: ServiceFailure.notOpen) { _ = try host.http.network(of: "gate", for: instances[1]) }
        #expect(try host.http.network(of: "gate", for: instances[2]).names !== first.names)
    }

    #if os(Linux)
        @Test func `each gate has an event loop of its own as long as there are enough`() throws {
            let loops = HTTPLoops(limit: 5)
            var leases: [HTTPLoops.Lease] = []
            for _ in 0..<5 { leases.append(try loops.lend()) }
            let all = leases.map { ObjectIdentifier($0.loop) }
            #expect(Set(all).count == 5)
            let shared = try loops.lend()
            #expect(all.contains(ObjectIdentifier(shared.loop)))
            // Nobody has these two; the one that was given back first comes first.
            leases.remove(at: 3)
            leases.remove(at: 2)
            let next = try loops.lend()
            #expect(ObjectIdentifier(next.loop) == all[3])
            let last = try loops.lend()
            #expect(ObjectIdentifier(last.loop) == all[2])
            withExtendedLifetime((leases, shared, next, last)) {}
        }
    #endif

    @Test func `gates share no connection, and an instance that ends closes its own`() async {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let host = HostServices(options: .init(http: .lasting()))
        let (first, second) = (PluginSide(host: host, path: "first"), PluginSide(host: host, path: "second"))
        for plugin in [first, second, first, second] {
            #expect(await plugin.request("GET", server.url()).code == 204)
        }
        #expect(server.connectionCount == 2)
        await first.gate.stopAndAwaitCallbacks()
        first.gate.invalidate()
        await server.ended.reaches(1)
        #expect(await second.request("GET", server.url()).code == 204)
        #expect(server.connectionCount == 2)
        await host.stop()
        await server.ended.reaches(2)
    }

    @Test(arguments: [
        ("GET", true), ("DELETE", true), ("OPTIONS", true), ("BREW", true), ("POST", false), ("PROPFIND", false),
    ])
    func `a body that servers may leave unread is the last on its connection`(method: String, isLast: Bool) async {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(http: .lasting())))
        #expect(await plugin.request(method, server.url(), body: [1]).code == 204)
        #expect(await plugin.request(method, server.url()).code == 204)
        #expect(server.requests.map { $0.fields["connection"] } == [isLast ? "close" : nil, nil])
        #expect(server.connectionCount == (isLast ? 2 : 1))
    }

    @Test func `a gate that has all its connections to a server keeps no other gate from it`() async {
        let received = CallCounter()
        let server = LoopbackServer { request in
            guard request.line.contains("/hang") else { return .response(204) }
            received.add()
            return .stall
        }
        defer { server.stop() }
        let host = HostServices(options: .init(http: .lasting { $0.connectionsPerHost = 1 }))
        let (greedy, other) = (PluginSide(host: host, path: "greedy"), PluginSide(host: host, path: "other"))
        async let hanging = greedy.request("GET", server.url("/hang"))
        await received.reaches(1)
        #expect(await other.request("GET", server.url()).code == 204)
        await greedy.gate.stopAndAwaitCallbacks()
        let end = await hanging
        #expect(end.status == CONNECTOR_CANCELLED)
    }

    @Test func `a gate's requests have a limited number of connections to all hosts together`() async {
        let received = CallCounter()
        let line = ScriptLine()
        let slow = LoopbackServer { _ in
            received.add()
            _ = line.next()
            return .response(204)
        }
        let silent = LoopbackServer { _ in
            received.add()
            return .stall
        }
        let third = LoopbackServer { _ in .response(204) }
        defer { for server in [slow, silent, third] { server.stop() } }
        let options = HTTPOptions.lasting {
            $0.connectionsPerHost = 1
            $0.connectionLimit = 2
        }
        let host = HostServices(options: .init(http: options))
        let (greedy, other) = (PluginSide(host: host, path: "greedy"), PluginSide(host: host, path: "other"))
        async let first = greedy.request("GET", slow.url())
        async let second = greedy.request("GET", silent.url())
        await received.reaches(2)
        let refused = await greedy.request("GET", third.url())
        #expect(refused.status == CONNECTOR_RATE_LIMITED && refused.isRetryable && refused.isDone)
        #expect(refused.message == "this connector's requests have 2 connections, and may have no more")
        #expect(third.connectionCount == 0)
        #expect(await other.request("GET", third.url()).code == 204)
        line.send("answer")
        let answered = await first
        #expect(answered.code == 204)
        // The connection to the slow server is still open, so this one closes after its request.
        #expect(await greedy.request("GET", third.url()).code == 204)
        #expect(third.requests.map { $0.fields["connection"] } == [nil, "close"])
        await greedy.gate.stopAndAwaitCallbacks()
        let cancelled = await second
        #expect(cancelled.status == CONNECTOR_CANCELLED)
    }

    @Test func `a cancelled request counts until its connection is made or has failed`() throws {
        let url = try #require(URLParts("http://127.0.0.1:1/"))
        let other = try #require(URLParts("http://127.0.0.1:2/"))
        var options = HTTPOptions.patient
        options.connectionsPerHost = 1
        options.connectionLimit = 1
        let patient = GateConnections(options: options)
        #expect(try patient.begin(url))
        patient.end(url, isCancelled: true)
        #expect(throws: ServiceFailure.self) { _ = try patient.begin(other) }
        // It needs no connection beyond the one that is being made.
        #expect(try patient.begin(url))
        options.connectTimeout = .zero
        let hasty = GateConnections(options: options)
        #expect(try hasty.begin(url))
        hasty.end(url, isCancelled: true)
        #expect(try hasty.begin(other))
    }

    #if os(Linux)
        /// In a process of its own, which has no descriptor left for a moment.
        @Test func `a process without descriptors for HTTP is told which limit that is`() async {
            await #expect(processExitsWith: .success) {
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(unsafe getrlimit(resource, &limit) == 0)
                var none = limit
                none.rlim_cur = 0
                try #require(unsafe setrlimit(resource, &none) == 0)
                let result = Result { () throws(ServiceFailure) in try HTTPLoops(limit: 1).lend() }
                try #require(unsafe setrlimit(resource, &limit) == 0)
                let failure = #expect(throws: ServiceFailure.self) { try result.get() }
                #expect(failure?.domain == "errno" && failure?.detail == EMFILE)
            }
        }

        @Test func `a gate may have a quarter of the process's descriptors as connections`() async {
            await #expect(processExitsWith: .success) {
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(unsafe getrlimit(resource, &limit) == 0)
                for (descriptors, connections) in [(200, 64), (400, 100)] as [(rlim_t, Int)] {
                    limit.rlim_cur = descriptors
                    try #require(unsafe setrlimit(resource, &limit) == 0)
                    #expect(DescriptorLimit.current == Int(descriptors))
                    #expect(GateConnections.defaultLimit(perHost: 1) == connections)
                    #expect(GateConnections.defaultLimit(perHost: 128) == 128)
                }
                #expect(DescriptorLimit.hasRoom(for: 64))
                #expect(!DescriptorLimit.hasRoom(for: 400))
                DescriptorLimit.raise()
                #expect(DescriptorLimit.current == Int(clamping: min(limit.rlim_max, 65_536)))
            }
        }
    #endif

    @Test(arguments: [1, 24, HTTPOptions().connectionsPerHost])
    func `as many requests run at once as there may be connections to one host, and the others wait`(limit: Int) async {
        let gathering = Gathering(of: limit)
        let server = LoopbackServer { _ in
            gathering.arrive()
            return .response(204)
        }
        defer { server.stop() }
        let options = HTTPOptions.lasting { $0.connectionsPerHost = limit }
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
}
