// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Plugins of a host whose clock is not the system's: it is their clock, too, wherever they run.
@Suite(.timeLimit(.minutes(5))) struct RunnerClockTests {
    private static func opened(_ channel: TestChannel) async throws -> TestHost {
        let test = try TestHost(TestHost.leaf("gate", plugin: "timers", settings: channel.settings))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        return test
    }

    /// Starts a timer, which emits its slot when it fires.
    private static func start(_ test: TestHost, _ slot: Int64, after delay: Duration) async throws {
        let arguments: JSONObject = ["slot": .integer(slot), "delay": .integer(Int64(delay.nanoseconds))]
        #expect(try await test.call("gate", "start", arguments) == 0)
    }

    private static func cancel(_ test: TestHost, _ slot: Int64) async throws -> Int64? {
        try await test.call("gate", "cancel", ["slot": .integer(slot)]).integer
    }

    @Test(arguments: TestChannel.all)
    func `a plugin reads the host's time, and its deadlines are in that time`(_ channel: TestChannel) async throws {
        let test = try await Self.opened(channel)
        for _ in 0..<2 {
            #expect(try await test.call("gate", "now").integer == Int64(test.clock.now()))
            #expect(try await test.call("gate", "day").integer == Int64(test.clock.wallTime().nanoseconds))
            let left = try await test.call("gate", "left", options: CallOptions(timeout: .seconds(5)))
            #expect(left == 5_000_000_000)
            test.clock.advance(by: .seconds(100))
        }
        await test.host.close()
    }

    @Test(arguments: TestChannel.all)
    func `timers fire by the host's clock, in the order of their deadlines if it is moved in one step`(
        _ channel: TestChannel
    ) async throws {
        let test = try await Self.opened(channel)
        var fired = test.host.events(of: "gate").makeAsyncIterator()
        for (slot, delay) in [(0, 50), (1, 30), (2, 10), (3, 40), (4, 20)] {
            try await Self.start(test, Int64(slot), after: .milliseconds(delay))
        }
        test.clock.advance(by: .milliseconds(10) - .nanoseconds(1))
        #expect(test.clock.hasTimer(dueAfter: .nanoseconds(1)))
        test.clock.advance(by: .seconds(1))
        for slot in [2, 4, 1, 3, 0] as [JSONValue] { #expect(await fired.next()?.payload == slot) }
        await test.host.close()
    }

    @Test(arguments: TestChannel.all)
    func `a call that a timer completes ends when the host's clock is there`(_ channel: TestChannel) async throws {
        let test = try await Self.opened(channel)
        async let answer = test.call("gate", "wait", ["delay": 7_000_000_000])
        await test.clock.advance(toTimerAfter: .seconds(7))
        #expect(try await answer == true)
        await test.host.close()
    }

    /// Its answer takes another way than the plugin's requests if it is in a runner.
    @Test(arguments: TestChannel.all)
    func `the host's clock has a timer as soon as the typed call returns that started it`(
        _ channel: TestChannel
    ) async throws {
        let test = try await Self.opened(channel)
        let start = try test.host.gate("gate").typed(
            "start",
            "(slot: i64, delay: i64) -> i64",
            as: OperationFunction.Integers2.self
        )
        for slot in 0..<8 as Range<Int64> {
            #expect(try await start(slot, (slot + 1) * 1_000_000) == 0)
            #expect(test.clock.hasTimer(dueAfter: .milliseconds(slot + 1)))
        }
        await test.host.close()
    }

    @Test(arguments: TestChannel.all)
    func `a cancelled timer leaves the host's clock`(_ channel: TestChannel) async throws {
        let test = try await Self.opened(channel)
        try await Self.start(test, 0, after: .milliseconds(1))
        #expect(test.clock.hasTimer(dueAfter: .milliseconds(1)))
        #expect(try await Self.cancel(test, 0) == Int64(CONNECTOR_OK))
        #expect(!test.clock.hasTimer(dueAfter: .milliseconds(1)))
        #expect(try await Self.cancel(test, 0) == Int64(CONNECTOR_UNKNOWN_OPERATION))
        await test.host.close()
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
    func `a message that a cancelled timer has fired is harmless`() async throws {
        let test = try await Self.opened(.runner)
        var fired = test.host.events(of: "gate").makeAsyncIterator()
        try await Self.start(test, 0, after: .milliseconds(1))
        #expect(try await Self.cancel(test, 0) == Int64(CONNECTOR_OK))
        let channel = try test.remoteChannel("gate")
        let number = channel.state.withLock(\.number)
        for token in 0..<100 as Range<UInt64> {
            var message = MessageWriter()
            message.put(token)
            #expect(channel.runner.send(.timerFired, instance: number, message.bytes) != nil)
        }
        try await Self.start(test, 1, after: .milliseconds(2))
        test.clock.advance(by: .seconds(1))
        #expect(await fired.next()?.payload == 1)
        await test.host.close()
    }

    @Test(arguments: TestChannel.all)
    func `timers end with their instance`(_ channel: TestChannel) async throws {
        let test = try await Self.opened(channel)
        try await Self.start(test, 0, after: .seconds(1000))
        #expect(test.clock.hasTimer(dueAfter: .seconds(1000)))
        await test.host.close()
        #expect(!test.clock.hasTimer(dueAfter: .seconds(1000)))
    }

    @Test(arguments: TestChannel.all)
    func `a timer of an instance that cannot be made ends, too`(_ channel: TestChannel) async throws {
        let test = try TestHost(TestHost.leaf("gate", plugin: "timers", ["refuses": true], settings: channel.settings))
        let gate = try #require(await test.host.open()["gate"])
        #expect(gate.state == .failed)
        #expect(gate.error?.message == "the configuration says so")
        try await test.noTimers()
        await test.host.close()
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
    func `a timer ends with the runner that crashes, and the next instance hears nothing of it`() async throws {
        let test = try await Self.opened(.runner)
        var fired = test.host.events(of: "gate").makeAsyncIterator()
        try await Self.start(test, 0, after: .seconds(1000))
        #expect(test.clock.hasTimer(dueAfter: .seconds(1000)))
        let error = try await failure { () throws(ConnectorError) in try await test.call("gate", "crash") }
        #expect(error.code == .crashed)
        #expect(!test.clock.hasTimer(dueAfter: .seconds(1000)))
        _ = await test.host.report { $0["gate"]?.state == .failed }
        #expect(try await test.host.retry("gate")["gate"]?.state == .open)
        try await Self.start(test, 1, after: .seconds(3000))
        test.clock.advance(by: .seconds(5000))
        #expect(await fired.next()?.payload == 1)
        await test.host.close()
    }

    @Test func `the timers that a runner can start on the host's clock are bounded, whatever it says`() throws {
        let clock = ManualHostClock()
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let workers = WorkerThreads()
        let dependencies = CallDependencies(
            operations: .shared,
            workers: workers,
            gateThreads: workers,
            cancelThreads: workers,
            clock: clock
        )
        let services = RemoteServices(plugin.gate, dependencies)
        func start(_ token: UInt64) throws {
            var writer = MessageWriter()
            writer.put(token)
            writer.put(UInt64.max)
            var message = MessageReader(writer.bytes)
            try services.receive(.timerStart, &message) { _ in nil }
        }
        for _ in 0..<3 { try start(1) }
        #expect(clock.timerCount == 1)
        for token in 2...UInt64(2 * TimerCallback.limit + 5) { try start(token) }
        #expect(clock.timerCount == 2 * TimerCallback.limit)
        _ = services.stop()
        #expect(clock.timerCount == 0)
        try start(1)
        #expect(clock.timerCount == 0)
        plugin.gate.invalidate()
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
    func `if the host's clock is the system's, a runner keeps the time and the timers itself`() async throws {
        let leaf = TestHost.leaf("gate", plugin: "timers", settings: TestChannel.runner.settings)
        let host = try ConnectorHost.testing(
            "[\(leaf)]",
            plugins: [Fixtures.contract("timers")],
            clock: SystemHostClock()
        )
        #expect(await host.open().isReady)
        let gate = try host.gate("gate")
        let before = SystemTime.monotonic()
        let now = try #require(try await gate.call("now").integer)
        #expect((before...SystemTime.monotonic()).contains(UInt64(now)))
        #expect(try await gate.call("wait", ["delay": 1_000_000]) == true)
        await host.close()
    }
}
