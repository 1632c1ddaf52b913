// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import NIOCore
import NIOPosix
import Synchronization
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

    /// The usual ones, with connections that stay open.
    private static func options(_ change: (inout HTTPOptions) -> Void = { _ in }) -> HTTPOptions {
        var options = HTTPOptions.patient
        options.idleTimeout = .seconds(3600)
        change(&options)
        return options
    }

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
            var loans: [HTTPLoops.Loan] = []
            for _ in 0..<5 { loans.append(try loops.lend()) }
            let all = loans.map { ObjectIdentifier($0.loop) }
            #expect(Set(all).count == 5)
            let shared = try loops.lend()
            #expect(all.contains(ObjectIdentifier(shared.loop)))
            // Nobody has these two; the one that was given back first comes first.
            loans.remove(at: 3)
            loans.remove(at: 2)
            let next = try loops.lend()
            #expect(ObjectIdentifier(next.loop) == all[3])
            let last = try loops.lend()
            #expect(ObjectIdentifier(last.loop) == all[2])
            withExtendedLifetime((loans, shared, next, last)) {}
        }
    #endif

    @Test func `gates share no connection, and an instance that ends closes its own`() async {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let host = HostServices(options: .init(http: Self.options()))
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
        let plugin = PluginSide(host: HostServices(options: .init(http: Self.options())))
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
        let host = HostServices(options: .init(http: Self.options { $0.connectionsPerHost = 1 }))
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
        let options = Self.options {
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

    #if os(Linux)
        @Test func `names whose DNS server is silent keep no other gate from its server`() async {
            let server = LoopbackServer { _ in .response(204) }
            defer { server.stop() }
            let asked = CallCounter()
            let line = ScriptLine()
            let options = Self.options {
                $0.lookUp = { host in
                    guard host.hasSuffix(".silent.test") else { return .addresses([]) }
                    asked.add()
                    _ = line.next()
                    return .absent
                }
            }
            let host = HostServices(options: .init(http: options))
            let greedy = PluginSide(host: host, path: "greedy", egress: ["*.silent.test"])
            let other = PluginSide(host: host, path: "other", egress: ["localhost"])
            let statuses: [Int32] = await withTaskGroup(of: Int32.self) { group in
                for number in 0..<12 {
                    group.addTask { await greedy.request("GET", "http://n\(number).silent.test/").status }
                }
                await asked.reaches(8)
                #expect(await other.request("GET", "http://localhost:\(server.port)/").code == 204)
                // A request that is still to be started is refused instead.
                await greedy.gate.stopAndAwaitCallbacks()
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == CONNECTOR_CANCELLED || $0 == CONNECTOR_NOT_OPEN }, "\(statuses)")
            // Nobody waits for the others any more.
            for _ in 0..<8 { line.send("no") }
            #expect(asked.count == 8)
        }

        @Test func `two names whose DNS server is silent keep no third one of the gate from its server`() async {
            let server = LoopbackServer { _ in .response(204) }
            defer { server.stop() }
            let asked = CallCounter()
            let line = ScriptLine()
            let options = Self.options {
                $0.lookUp = { host in
                    guard host.hasSuffix(".silent.test") else { return .addresses([]) }
                    asked.add()
                    _ = line.next()
                    return .absent
                }
            }
            let host = HostServices(options: .init(http: options))
            let plugin = PluginSide(host: host, egress: ["*.silent.test", "localhost"])
            async let first = plugin.request("GET", "http://a.silent.test/")
            async let second = plugin.request("GET", "http://b.silent.test/")
            await asked.reaches(2)
            #expect(await plugin.request("GET", "http://localhost:\(server.port)/").code == 204)
            for _ in 0..<2 { line.send("no") }
            for end in await [first, second] { #expect(end.status == CONNECTOR_UNAVAILABLE, "\(end.message)") }
        }

        @Test func `a request whose name must wait for too many others says so`() async {
            let line = ScriptLine()
            let options = Self.options {
                $0.connectTimeout = .milliseconds(1)
                $0.lookUp = { _ in
                    _ = line.next()
                    return .absent
                }
            }
            let plugin = PluginSide(host: HostServices(options: .init(http: options)), egress: ["*.silent.test"])
            for number in 0..<8 {
                let late = await plugin.request("GET", "http://n\(number).silent.test/")
                #expect(late.message.contains("its name was not found"), "\(late.message)")
            }
            let last = await plugin.request("GET", "http://n8.silent.test/")
            #expect(last.status == CONNECTOR_TIMED_OUT && last.isRetryable)
            let words = "other names of this connector were still being looked up"
            #expect(last.message.contains(words), "\(last.message)")
            for _ in 0..<8 { line.send("no") }
        }

        @Test func `a connection to a name that was slow to find is made without another look-up`() async {
            let server = LoopbackServer { _ in .response(204) }
            defer { server.stop() }
            let asked = CallCounter()
            let options = Self.options {
                $0.slowLookUp = .zero
                // It is over before the first address has failed.
                $0.lookUpValidity = .zero
                // The system would not find it. Nothing listens at the first address.
                $0.lookUp = { _ in
                    asked.add()
                    return .addresses(["127.0.0.2", "127.0.0.1"])
                }
            }
            let plugin = PluginSide(host: HostServices(options: .init(http: options)), egress: ["vendor.test"])
            for _ in 0..<2 {
                let end = await plugin.request("POST", "http://vendor.test:\(server.port)/", body: [1])
                #expect(end.code == 204, "\(end.message)")
            }
            let names = server.requests.map { $0.fields["host"] }
            #expect(names == Array(repeating: "vendor.test:\(server.port)", count: 2))
            #expect(server.connectionCount == 1 && asked.count == 1)
        }

        @Test func `an open connection without a request needs no name, and a new one does`() async {
            let received = CallCounter()
            let server = LoopbackServer { request in
                guard request.line.contains("/hang") else { return .response(204) }
                received.add()
                return .stall
            }
            defer { server.stop() }
            let asked = CallCounter()
            let options = Self.options {
                $0.lookUpValidity = .zero
                $0.lookUp = { _ in
                    asked.add()
                    return asked.count == 1 ? .addresses([]) : .failed("no server answers")
                }
            }
            let plugin = PluginSide(host: HostServices(options: .init(http: options)), egress: ["localhost"])
            let url = "http://localhost:\(server.port)"
            for _ in 0..<3 { #expect(await plugin.request("GET", "\(url)/").code == 204) }
            #expect(asked.count == 1)
            async let hanging = plugin.request("GET", "\(url)/hang")
            await received.reaches(1)
            #expect(asked.count == 1)
            let refused = await plugin.request("GET", "\(url)/")
            #expect(refused.status == CONNECTOR_UNAVAILABLE && asked.count == 2, "\(refused.message)")
            await plugin.gate.stopAndAwaitCallbacks()
            let end = await hanging
            #expect(end.status == CONNECTOR_CANCELLED)
        }

        @Test func `a request whose name cannot be looked up says why, and whether it is the proxy's`() async {
            let failing = Self.options { $0.lookUp = { _ in .failed("Temporary failure in name resolution") } }
            let plugin = PluginSide(host: HostServices(options: .init(http: failing)), egress: ["vendor.test"])
            let failed = await plugin.request("GET", "http://vendor.test/")
            #expect(failed.status == CONNECTOR_UNAVAILABLE && failed.isRetryable)
            #expect(
                failed.message == "the name vendor.test could not be looked up (Temporary failure in name resolution): "
                    + "check the DNS servers of this machine"
            )
            let proxied = Self.options {
                $0.proxies = HTTPProxies(http: Secret("http://proxy.test:3128"))
                $0.lookUp = { _ in .absent }
            }
            let second = PluginSide(host: HostServices(options: .init(http: proxied)), egress: ["vendor.test"])
            let absent = await second.request("GET", "http://vendor.test/")
            #expect(
                absent.message
                    == "there is no host proxy.test (the proxy on the way to vendor.test:80): its name has no address"
            )
            #expect(HostNames.Answer(error: EAI_NONAME) == .absent)
            #expect(HostNames.Answer(error: EAI_AGAIN) == .failed("Temporary failure in name resolution"))
        }

        @Test func `a request that still waits for its name at its deadline names it`() async {
            let clock = ManualHostClock()
            let asked = CallCounter()
            let line = ScriptLine()
            let options = Self.options {
                $0.lookUp = { _ in
                    asked.add()
                    _ = line.next()
                    return .absent
                }
            }
            let host = HostServices(options: .init(clock: clock, http: options))
            let plugin = PluginSide(host: host, egress: ["silent.test"])
            async let request = plugin.request("GET", "http://silent.test/", deadline: clock.now() + 2_000_000_000)
            await asked.reaches(1)
            await clock.timer(dueAfter: .seconds(2))
            clock.advance(by: .seconds(2))
            let end = await request
            #expect(end.status == CONNECTOR_TIMED_OUT)
            #expect(end.message == "the name silent.test was not found in time: check the DNS servers of this machine")
            line.send("no")
        }

        @Test func `a request whose name is not found in time says so, and one without an address, too`() async {
            let line = ScriptLine()
            let options = Self.options {
                $0.connectTimeout = .milliseconds(1)
                $0.lookUp = { host in
                    if host == "silent.test" { _ = line.next() }
                    return .absent
                }
            }
            let plugin = PluginSide(host: HostServices(options: .init(http: options)), egress: ["silent.test"])
            let late = await plugin.request("GET", "http://silent.test/")
            line.send("no")
            #expect(late.status == CONNECTOR_TIMED_OUT && late.isRetryable)
            #expect(
                late.message
                    == "no connection to silent.test:80 within the time for connecting: its name was not found; "
                    + "check the DNS servers of this machine"
            )
            let patient = Self.options { $0.lookUp = { _ in .absent } }
            let second = PluginSide(host: HostServices(options: .init(http: patient)), egress: ["nothing.invalid"])
            let absent = await second.request("GET", "http://nothing.invalid/")
            #expect(absent.status == CONNECTOR_UNAVAILABLE)
            #expect(absent.message == "there is no host nothing.invalid: its name has no address")
        }
    #endif

    @Test func `a wait for a host name leaves no timer on the event loop, however it ends`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        // Describes the timers of the loop, among others.
        let idle = String(reflecting: loop)
        let line = ScriptLine()
        let options = Self.options { $0.lookUp = { _ in line.next() == "yes" ? .addresses([]) : .absent } }
        let names = HostNames(loop: loop, options: options)
        let ends: [(UInt64, String?, HostNames.Outcome)] = [
            (1, "yes", .found), (2, "no", .absent), (3, nil, .cancelled),
        ]
        for (ticket, word, expected) in ends {
            let outcome: HostNames.Outcome = await withCheckedContinuation { continuation in
                names.lookUp("\(ticket).test", ticket: ticket) { continuation.resume(returning: $0) }
                #expect(String(reflecting: loop) != idle)
                if let word { line.send(word) } else { names.giveUp(ticket, .cancelled) }
            }
            #expect(outcome == expected)
            #expect(String(reflecting: loop) == idle)
        }
        // The last look-up goes on without anybody who waits for it.
        line.send("no")
        try await group.shutdownGracefully()
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
        let plugin = PluginSide(host: HostServices(options: .init(http: Self.options())))
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

    @Test func `requests name the version of connector-host, unless the application says otherwise`() {
        var options = HTTPOptions()
        #expect(options.identifyingHost().userAgent == "connector-host/\(ConnectorHost.version)")
        options.userAgent = "shop/2.1"
        #expect(options.identifyingHost().userAgent == "shop/2.1")
        options.userAgent = "shop\r\nX-More: y"
        #expect(options.userAgent == "shop  X-More: y", "a header ends at a line break")
    }
}
