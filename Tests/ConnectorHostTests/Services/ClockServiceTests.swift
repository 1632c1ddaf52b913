// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// clock/1 as a plugin calls it.
@Suite struct ClockServiceTests {
    private let clock = ManualHostClock(now: .microseconds(5), wallTime: Timestamp(nanoseconds: 7_000))
    private let plugin: PluginSide
    private let counter = CallCounter()

    init() {
        plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
    }

    private func start(_ delay: UInt64) throws -> UInt64 {
        let table = try unsafe #require(plugin.clock).pointee
        var timer: UInt64 = 0
        let status = unsafe table.start_timer(table.context, delay, CallCounter.fire, counter.pointer, &timer)
        #expect(status == CONNECTOR_OK)
        #expect(timer != 0)
        return timer
    }

    private func cancel(_ timer: UInt64) throws -> Int32 {
        let table = try unsafe #require(plugin.clock).pointee
        return unsafe table.cancel_timer(table.context, timer)
    }

    @Test func `it tells the host's time`() throws {
        let table = try unsafe #require(plugin.clock).pointee
        #expect(unsafe table.monotonic_ns(table.context) == 5_000)
        #expect(unsafe table.wall_ns(table.context) == 7_000)
        clock.advance(by: .nanoseconds(1))
        #expect(unsafe table.monotonic_ns(table.context) == 5_001)
    }

    @Test func `a timer fires once, when its time has come`() async throws {
        let timer = try start(100)
        clock.advance(by: .nanoseconds(99))
        #expect(clock.timerCount == 1)
        clock.advance(by: .nanoseconds(1))
        await counter.reaches(1)
        clock.advance(by: .seconds(1))
        #expect(counter.count == 1)
        #expect(try cancel(timer) == CONNECTOR_UNKNOWN_OPERATION)
    }

    @Test func `a cancelled timer does not fire`() async throws {
        let timer = try start(100)
        #expect(try cancel(timer) == CONNECTOR_OK)
        #expect(try cancel(timer) == CONNECTOR_UNKNOWN_OPERATION)
        _ = try start(200)
        clock.advance(by: .seconds(1))
        await counter.reaches(1)
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(counter.count == 1)
    }

    @Test(arguments: [0, 1, UInt64.max])
    func `an id that was never given out is unknown`(timer: UInt64) throws {
        #expect(try cancel(timer) == CONNECTOR_UNKNOWN_OPERATION)
    }

    @Test func `another gate's timer is unknown`() throws {
        let timer = try start(100)
        let other = PluginSide()
        let table = try unsafe #require(other.clock).pointee
        #expect(unsafe table.cancel_timer(table.context, timer) == CONNECTOR_UNKNOWN_OPERATION)
        #expect(try cancel(timer) == CONNECTOR_OK)
    }

    @Test func `a gate that closes drops its timers and starts no more`() async throws {
        _ = try start(100)
        _ = try start(200)
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(clock.timerCount == 0)
        clock.advance(by: .seconds(1))
        #expect(counter.count == 0)
        let table = try unsafe #require(plugin.clock).pointee
        var timer: UInt64 = 0
        let status = unsafe table.start_timer(table.context, 1, CallCounter.fire, counter.pointer, &timer)
        #expect(status == CONNECTOR_NOT_OPEN)
    }

    @Test func `the longest delay does not overflow`() throws {
        let timer = try start(.max)
        clock.advance(by: .seconds(100_000))
        #expect(try cancel(timer) == CONNECTOR_OK)
    }

    @Test func `the timers of one gate are limited`() throws {
        let table = try unsafe #require(plugin.clock).pointee
        var timer: UInt64 = 0
        for _ in 0..<TimerCallback.limit {
            _ = unsafe table.start_timer(table.context, 1000, CallCounter.fire, nil, &timer)
        }
        #expect(
            unsafe table.start_timer(table.context, 1000, CallCounter.fire, nil, &timer) == CONNECTOR_TOO_LARGE
        )
    }

    @Test func `null gets a status`() throws {
        typealias Start =
            @convention(c) (
                UnsafeMutableRawPointer?, UInt64, TimerCallback.Fire?, UnsafeMutableRawPointer?,
                UnsafeMutablePointer<UInt64>?
            ) -> Int32
        let table = try unsafe #require(plugin.clock).pointee
        let start = unsafe unsafeBitCast(table.start_timer, to: Start.self)
        var timer: UInt64 = 0
        #expect(unsafe start(nil, 1, CallCounter.fire, nil, &timer) == CONNECTOR_MISUSE)
        #expect(unsafe start(table.context, 1, nil, nil, &timer) == CONNECTOR_MISUSE)
        #expect(unsafe start(table.context, 1, CallCounter.fire, nil, nil) == CONNECTOR_MISUSE)
    }
}
