// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorHostTesting
import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#endif

/// The thread of a host's timers: a host that cannot have one says so, and one that is dropped gives it back.
@Suite(.timeLimit(.minutes(5))) struct HostThreadsTests {
    /// A system that refuses threads as long as it is told to.
    private final class System: Sendable {
        let isRefusing = Mutex(true)
        /// Counts threads that have ended.
        let ended = CallCounter()

        func make(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
            guard !isRefusing.withLock(\.self) else { return false }
            return HostThread.start(name) { [ended] in
                body()
                ended.add()
            }
        }
    }

    private func host(_ clock: SystemHostClock) throws -> ConnectorHost {
        try ConnectorHost.testing(
            #"[{"name": "gate", "plugin": "calls", "heal": "off"}]"#,
            plugins: [Fixtures.contract("calls")],
            clock: clock
        )
    }

    @Test func `threads that were tried out have ended, and a system that refuses one has too few`() async {
        let system = System()
        #expect(!HostThread.areAvailable(1, system.make))
        system.isRefusing.withLock { $0 = false }
        #expect(HostThread.areAvailable(5, system.make))
        await system.ended.reaches(5)
        let left = Mutex(3)
        let isEnough = HostThread.areAvailable(5) { name, body in
            let isGiven = left.withLock { left in
                left -= 1
                return left >= 0
            }
            return isGiven && system.make(name, body)
        }
        #expect(!isEnough)
        await system.ended.reaches(8)
        #expect(HostThread.areAvailable(2, awaitingEnd: false, system.make))
        await system.ended.reaches(10)
    }

    #if os(Linux)
        /// In a process and as a user of its own: the kernel counts the threads of a user, and spares root.
        @Test(.enabled(if: geteuid() == 0, "needs a user of its own"))
        func `a plugin is not blamed for being late while the system has no threads`() async {
            await #expect(processExitsWith: .success) {
                let plugin = PluginSide(host: HostServices(options: .init(http: .patient)))
                let reports = Mutex(0)
                let context = HostContext.lend(to: plugin.gate) { _ in reports.withLock { $0 += 1 } }
                // RLIMIT_NPROC, a macro that Swift does not see.
                let resource = __rlimit_resource_t(6)
                var limit = rlimit()
                try #require(setuid(uid_t(20_000 + getpid() % 40_000)) == 0)
                try #require(unsafe getrlimit(resource, &limit) == 0)
                var none = limit
                none.rlim_cur = 1
                try #require(unsafe setrlimit(resource, &none) == 0)
                let error = MissedDeadline.completion(of: "open", awaiting: .nothing).error(after: 1_000_000_000)
                context.overran("a function has not returned")
                try #require(unsafe setrlimit(resource, &limit) == 0)
                #expect(error.code == .timedOut && error.fix == HostThread.remedy, "\(error)")
                #expect(error.cause?.contains("too few threads") == true, "\(error)")
                #expect(reports.withLock(\.self) == 0)
            }
        }
    #endif

    @Test func `a timer whose thread could not start fires once a later attempt starts it`() async {
        let system = System()
        let clock = SystemHostClock(makeThread: system.make)
        let fired = CallCounter()
        #expect(!clock.prepare())
        _ = clock.schedule(after: 0) { fired.add() }
        system.isRefusing.withLock { $0 = false }
        #expect(clock.prepare())
        await fired.reaches(1)
        #expect(clock.prepare())
    }

    @Test func `a host that cannot have a thread for timers fails its gates at once, and opens once it can`()
        async throws
    {
        let system = System()
        let host = try host(SystemHostClock(makeThread: system.make))
        let gate = try #require(await host.open()["gate"])
        #expect(gate.state == .failed)
        #expect(gate.error?.message == "the system cannot create a thread for timers")
        #expect(gate.attempts == 1)
        system.isRefusing.withLock { $0 = false }
        #expect(await host.open()["gate"]?.state == .open)
        await host.close()
    }

    @Test func `a plugin's timers and requests are refused while there is no thread for timers`() async throws {
        let system = System()
        let clock = SystemHostClock(makeThread: system.make)
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock, http: .patient)))
        let counter = CallCounter()
        let table = try unsafe #require(plugin.clock).pointee
        var timer: UInt64 = 0
        #expect(
            unsafe table.start_timer(table.context, 0, CallCounter.fire, counter.pointer, &timer)
                == CONNECTOR_UNAVAILABLE
        )
        let end = await plugin.request("GET", "http://127.0.0.1:1/")
        #expect(end.status == CONNECTOR_UNAVAILABLE && !end.isDone)
        #expect(end.message == "the system cannot create a thread for timers")
        system.isRefusing.withLock { $0 = false }
        #expect(
            unsafe table.start_timer(table.context, 0, CallCounter.fire, counter.pointer, &timer) == CONNECTOR_OK
        )
        await counter.reaches(1)
        await plugin.gate.stopAndAwaitCallbacks()
    }

    @Test func `a host that is dropped without being closed gives its clock's thread back`() async throws {
        let system = System()
        system.isRefusing.withLock { $0 = false }
        do {
            let host = try host(SystemHostClock(makeThread: system.make))
            #expect(await host.open()["gate"]?.state == .open)
            #expect(try await host.gate("gate").call("answer", ["value": 1]) == 1)
        }
        await system.ended.reaches(1)
    }

    @Test(arguments: [0, 1_000_000] as [Int64])
    func `a host that is dropped ends its deliveries, whether the vendor takes events or is away`(_ away: Int64)
        async throws
    {
        let system = System()
        system.isRefusing.withLock { $0 = false }
        do {
            let host = try ConnectorHost.testing(
                "[\(TestHost.leaf("gate", plugin: "deliveries", ["away": .integer(away)]))]",
                plugins: [Fixtures.contract("deliveries")],
                clock: SystemHostClock(makeThread: system.make)
            )
            await host.open()
            try await host.analytics("gate").track("Seen")
            _ = await host.report {
                let queue = $0["gate"]?.outbox
                return away == 0 ? queue?.delivered == 1 : queue?.code != nil
            }
        }
        await system.ended.reaches(1)
    }

    @Test func `a client outlives its host, and the instance ends with the client`() async throws {
        let system = System()
        system.isRefusing.withLock { $0 = false }
        do {
            let client: GateClient
            do {
                let host = try host(SystemHostClock(makeThread: system.make))
                await host.open()
                client = try host.gate("gate")
            }
            #expect(try await client.call("answer", ["value": 2]) == 2)
        }
        await system.ended.reaches(1)
    }

    @Test func `a host that is closed and dropped gives its clock's thread back`() async throws {
        let system = System()
        system.isRefusing.withLock { $0 = false }
        do {
            let host = try host(SystemHostClock(makeThread: system.make))
            await host.open()
            await host.close()
        }
        await system.ended.reaches(1)
    }
}
