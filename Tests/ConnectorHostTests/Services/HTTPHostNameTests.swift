// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import NIOCore
import NIOPosix
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#endif

/// How the names of hosts are looked up, and what waits for a name.
@Suite(.timeLimit(.minutes(5))) struct HTTPHostNameTests {
    #if os(Linux)
        @Test func `names whose DNS server is silent keep no other gate from its server`() async {
            let server = LoopbackServer { _ in .response(204) }
            defer { server.stop() }
            let asked = CallCounter()
            let line = ScriptLine()
            let options = HTTPOptions.lasting {
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
            let options = HTTPOptions.lasting {
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
            let options = HTTPOptions.lasting {
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
            let options = HTTPOptions.lasting {
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
            let options = HTTPOptions.lasting {
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

        @Test func `an open connection to an address needs no name only for requests that go there`() async {
            let received = CallCounter()
            let line = ScriptLine()
            let server = LoopbackServer { request in
                if request.line.contains("/hang") {
                    received.add()
                    return .stall
                }
                if request.line.contains("/wait") {
                    received.add()
                    _ = line.next()
                }
                return .response(204)
            }
            defer { server.stop() }
            let asked = CallCounter()
            let options = HTTPOptions.lasting {
                $0.slowLookUp = .zero
                $0.lookUpValidity = .zero
                $0.lookUp = { _ in
                    asked.add()
                    switch asked.count {
                    case 1: return .addresses(["127.0.0.1"])
                    case 2: return .addresses([])
                    default: return .failed("no server answers")
                    }
                }
            }
            let plugin = PluginSide(host: HostServices(options: .init(http: options)), egress: ["localhost"])
            let url = "http://localhost:\(server.port)"
            async let waiting = plugin.request("GET", "\(url)/wait")
            await received.reaches(1)
            // Without an address, it goes to a client that looks the name up, as the last request does.
            async let hanging = plugin.request("GET", "\(url)/hang")
            await received.reaches(2)
            line.send("go")
            let free = await waiting
            #expect(free.code == 204 && server.connectionCount == 2, "\(free.message)")
            let refused = await plugin.request("GET", "\(url)/")
            #expect(refused.status == CONNECTOR_UNAVAILABLE && asked.count == 3, "\(refused.message)")
            await plugin.gate.stopAndAwaitCallbacks()
            let end = await hanging
            #expect(end.status == CONNECTOR_CANCELLED)
        }

        @Test func `a request whose name cannot be looked up says why, and whether it is the proxy's`() async {
            let failing = HTTPOptions.lasting { $0.lookUp = { _ in .failed("Temporary failure in name resolution") } }
            let plugin = PluginSide(host: HostServices(options: .init(http: failing)), egress: ["vendor.test"])
            let failed = await plugin.request("GET", "http://vendor.test/")
            #expect(failed.status == CONNECTOR_UNAVAILABLE && failed.isRetryable)
            #expect(
                failed.message == "the name vendor.test could not be looked up (Temporary failure in name resolution): "
                    + "check the DNS servers of this machine"
            )
            let proxied = HTTPOptions.lasting {
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
            let options = HTTPOptions.lasting {
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
            let options = HTTPOptions.lasting {
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
            let patient = HTTPOptions.lasting { $0.lookUp = { _ in .absent } }
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
        let options = HTTPOptions.lasting { $0.lookUp = { _ in line.next() == "yes" ? .addresses([]) : .absent } }
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
}
