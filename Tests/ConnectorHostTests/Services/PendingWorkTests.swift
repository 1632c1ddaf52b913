// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import Testing

@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What the host says that an operation waits for, when its deadline comes.
@Suite(.timeLimit(.minutes(5))) struct PendingWorkTests {
    private let clock = ManualHostClock()
    /// The time of the operation, whose deadline its requests have, too.
    private let span: ClosedRange<UInt64>
    private let hasCome = CallCounter()

    init() {
        let now = clock.now()
        span = now...now + 2_000_000_000
    }

    private func plugin(_ options: HTTPOptions = .lasting(), egress: [String] = ["127.0.0.1"]) -> PluginSide {
        PluginSide(host: HostServices(options: .init(clock: clock, http: options)), egress: egress)
    }

    /// A server that never answers.
    private func silentServer(readsRequests: Bool = true) -> LoopbackServer {
        LoopbackServer(readsRequests: readsRequests) { [hasCome] _ in
            hasCome.add()
            return .stall
        }
    }

    @Test func `a server that does not answer is named, even if its request has just ended`() async throws {
        let server = silentServer()
        defer { server.stop() }
        let plugin = plugin()
        async let end = plugin.request("GET", server.url(), deadline: span.upperBound, during: 7)
        await hasCome.reaches(1)
        try await plugin.gate.loopHasRun()
        let late = PendingWork.late(.timedOut("no answer from 127.0.0.1:\(server.port) in time"))
        #expect(plugin.gate.pendingWork(for: 7, during: span) == late)
        clock.advance(by: .seconds(2))
        #expect(plugin.gate.pendingWork(for: 7, during: span) == late)
        #expect(await end.message == "no answer from 127.0.0.1:\(server.port) in time")
        // With more time, the plugin could have passed the failure on.
        let longer = span.lowerBound...span.upperBound + MissedDeadline.leastWait + 1
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(plugin.gate.pendingWork(for: 7, during: longer) == .nothing)
    }

    @Test func `a connection that is not made in time is named, and no answer`() async throws {
        // It never answers the beginning of the TLS handshake.
        let server = silentServer(readsRequests: false)
        defer { server.stop() }
        let plugin = plugin()
        async let end = plugin.request("GET", "https://127.0.0.1:\(server.port)/", deadline: span.upperBound)
        await hasCome.reaches(1)
        let words = "no connection to 127.0.0.1:\(server.port) in time"
        #expect(plugin.gate.pendingWork(for: 1, during: span) == .late(.timedOut(words)))
        clock.advance(by: .seconds(2))
        let late = await end
        #expect(late.status == CONNECTOR_TIMED_OUT && late.isRetryable && late.message == words)
    }

    #if os(Linux)
        @Test func `a name that is not found in time is named`() async {
            let line = ScriptLine()
            let options = HTTPOptions.lasting { [hasCome] in
                $0.lookUp = { _ in
                    hasCome.add()
                    _ = line.next()
                    return .absent
                }
            }
            let plugin = plugin(options, egress: ["*.silent.test"])
            async let end = plugin.request("GET", "http://a.silent.test/", deadline: span.upperBound)
            await hasCome.reaches(1)
            let words = "the name a.silent.test was not found in time: check the DNS servers of this machine"
            #expect(plugin.gate.pendingWork(for: 1, during: span) == .late(.timedOut(words)))
            clock.advance(by: .seconds(2))
            #expect(await end.message == words)
            line.send("no")
        }
    #endif

    @Test func `a request is blamed if the plugin says that it serves the operation, or if nothing else can be meant`()
        async throws
    {
        let server = silentServer()
        defer { server.stop() }
        let plugin = plugin()
        async let named = plugin.request("GET", server.url(), during: 7)
        await hasCome.reaches(1)
        try await plugin.gate.loopHasRun()
        let late = PendingWork.late(.timedOut("no answer from 127.0.0.1:\(server.port) in time"))
        #expect(plugin.gate.pendingWork(for: 7, during: span) == late)
        #expect(plugin.gate.pendingWork(for: 8, during: span) == .other)
        plugin.gate.cancelCalls(during: 7)
        #expect(await named.status == CONNECTOR_CANCELLED)
        // A stream has no deadline of its own.
        let stream = try plugin.stream("GET", server.url())
        await hasCome.reaches(2)
        try await plugin.gate.loopHasRun()
        #expect(plugin.gate.pendingWork(for: 8, during: span) == late)
        #expect(plugin.gate.pendingWork(for: 8, during: span.lowerBound + 1...span.upperBound) == .other)
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(await stream.next()?.status == CONNECTOR_CANCELLED)
        #expect(plugin.gate.pendingWork(for: 8, during: span) == .nothing)
    }

    @Test func `a request that several operations may have begun is not blamed`() async throws {
        let server = silentServer()
        defer { server.stop() }
        let plugin = plugin()
        let operations = OperationTable.shared
        let operation = try #require(operations.begin(owner: .max))
        let stream = try plugin.stream("GET", server.url())
        await hasCome.reaches(1)
        try await plugin.gate.loopHasRun()
        let late = PendingWork.late(.timedOut("no answer from 127.0.0.1:\(server.port) in time"))
        #expect(plugin.gate.pendingWork(for: operation, during: span) == late)
        let other = try #require(operations.begin(owner: .max))
        #expect(plugin.gate.pendingWork(for: operation, during: span) == .other)
        operations.complete(other, owner: .max, .success([]))
        #expect(plugin.gate.pendingWork(for: operation, during: span) == late)
        operations.complete(operation, owner: .max, .success([]))
        for id in [operation, other] { _ = operations.takeOutcome(of: id) }
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(await stream.next()?.status == CONNECTOR_CANCELLED)
    }

    @Test func `a request with another deadline is not blamed: it may serve another operation`() async {
        let server = silentServer()
        defer { server.stop() }
        let plugin = plugin()
        async let end = plugin.request("GET", server.url(), deadline: span.upperBound + 1)
        await hasCome.reaches(1)
        #expect(plugin.gate.pendingWork(for: 1, during: span) == .other)
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(await end.status == CONNECTOR_CANCELLED)
    }
}
