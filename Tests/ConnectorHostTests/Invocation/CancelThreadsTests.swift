// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A plugin is told of cancelled calls whatever its other functions, and those of other plugins, do.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CancelThreadsTests {
    /// Calls an operation on the caller's thread, because no other may be free.
    private func number(_ name: String, _ test: TestHost) async throws -> Int64 {
        try await test.host.gate("gate").withPrepared(name) { call throws(ConnectorError) in
            try call()
            return try call.integer()
        }
    }

    /// Waits until so many calls hold the plugin.
    private func holds(_ test: TestHost, _ count: Int64) async throws {
        while try await number("held", test) != count { try await Task.checkedYield() }
    }

    @Test func `a deadline frees the functions that hold every thread of the instance`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "frees-on-cancel"))
        let before = try await number("held", test)
        await withTaskGroup(of: ConnectorError.Code?.self) { group in
            for _ in 0..<CallThreads.limit {
                group.addTask {
                    try? await failure { () throws(ConnectorError) in
                        try await test.call("gate", "hold", options: CallOptions(timeout: .seconds(1)))
                    }.code
                }
            }
            try? await holds(test, before + Int64(CallThreads.limit))
            await test.clock.timers(atLeast: CallThreads.limit)
            test.clock.advance(by: .seconds(1))
            for await code in group { #expect(code == .timedOut) }
        }
        // The cancellations were sent, and each of them has freed a thread.
        try await holds(test, before)
        let call = Task { try await failure { () throws(ConnectorError) in try await test.call("gate", "hold") } }
        try await holds(test, before + 1)
        call.cancel()
        #expect(try await call.value.code == .cancelled)
        try await holds(test, before)
        await test.host.close()
    }

    @Test func `a call that is given up while its function runs is cancelled again once that has returned`()
        async throws
    {
        let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "frees-on-cancel"))
        let (held, stopped) = (try await number("held", test), try await number("stopped", test))
        let call = Task { try await failure { () throws(ConnectorError) in try await test.call("gate", "late") } }
        try await holds(test, held + 1)
        call.cancel()
        #expect(try await call.value.code == .cancelled)
        while try await number("stopped", test) != stopped + 1 { try await Task.checkedYield() }
        await test.host.close()
    }

    @Test func `a cancellation reaches the plugin while every thread of the pool is blocked`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "frees-on-cancel"))
        let (held, cancelled) = (try await number("held", test), try await number("cancelled", test))
        let call = Task { try await failure { () throws(ConnectorError) in try await test.call("gate", "wait") } }
        try await holds(test, held + 1)
        let (entered, ended) = (CallCounter(), CallCounter())
        let gate = Monitor(false)
        let workers = test.host.dependencies.calls.workers
        for _ in 0..<512 {
            workers.run {
                entered.add()
                gate.wait { $0 ? .proceed(()) : .wait(until: nil) }
                gate.signal()
                ended.add()
            }
        }
        await entered.reaches(512)
        call.cancel()
        #expect(try await call.value.code == .cancelled)
        while try await number("cancelled", test) != cancelled + 1 { try await Task.checkedYield() }
        gate.withLock { $0 = true }
        gate.signal()
        await ended.reaches(512)
        await test.host.close()
    }

    @Test func `functions that never return from cancel hold four threads, and no more`() async throws {
        let test = try await TestHost.opened(
            TestHost.leaf("gate", plugin: "frees-on-cancel", ["cancel": "blocks"])
        )
        let held = try await number("held", test)
        let calls = (0..<10).map { _ in
            Task { try await failure { () throws(ConnectorError) in try await test.call("gate", "wait") } }
        }
        try await holds(test, held + 10)
        for call in calls { call.cancel() }
        for call in calls { #expect(try await call.value.code == .cancelled) }
        while test.host.dependencies.calls.cancelThreads.threadCount < 4 { try await Task.checkedYield() }
        // On a slow machine the pool adds threads for what waits, which end when they have been idle for some seconds.
        while test.host.dependencies.calls.cancelThreads.threadCount > 5 { try await Task.checkedYield() }
    }

    @Test func `a cancellation that waits for a thread is not inside the plugin, which outlives it`() async throws {
        let (services, threads) = (PluginSide().gate, WorkerThreads(limit: 1))
        let instance = try PluginInstance(
            of: PluginLoader().load(PluginCatalog.candidate(path: Fixtures.contract("frees-on-cancel"))),
            configuration: Array("{}".utf8),
            dependencies: CallDependencies(
                operations: OperationTable(),
                workers: WorkerThreads(),
                gateThreads: WorkerThreads(isLean: true),
                cancelThreads: threads,
                clock: ManualHostClock()
            ),
            context: .lend(to: services) { _ in },
            services: services
        )
        let gate = Monitor(false)
        threads.run { gate.wait { $0 ? .proceed(()) : .wait(until: nil) } }
        instance.cancel(1)
        #expect(instance.functionsInside.isEmpty)
        let destroyed = instance.dispose()
        #expect(destroyed.value == nil)
        gate.withLock { $0 = true }
        gate.signal()
        await destroyed.wait()
    }

    @Test func `a plugin that has completed its opening with an error is not told to stop it`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "frees-on-cancel"),
            TestHost.leaf("refusing", plugin: "frees-on-cancel", ["opens": "refuses"])
        )
        #expect(try await test.host.open("gate")["gate"]?.state == .open)
        let cancelled = try await number("cancelled", test)
        // An instance that was refused has ended when its gate has failed.
        #expect(try await test.host.open("refusing")["refusing"]?.state == .failed)
        #expect(try await number("cancelled", test) == cancelled)
        await test.host.close()
    }
}
