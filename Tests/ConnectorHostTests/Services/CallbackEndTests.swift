// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// A callback counts as under way until it has returned: `destroy` of the instance waits for it.
@Suite(.timeLimit(.minutes(5))) struct CallbackEndTests {
    /// A clock that lets a test act whenever the host cancels a timer, which it does between two steps of its own.
    private final class InterposedClock: HostClock {
        let clock = ManualHostClock()
        let onCancel = Mutex<(@Sendable () -> Void)?>(nil)

        func now() -> UInt64 { clock.now() }
        func wallTime() -> Timestamp { clock.wallTime() }
        func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
            clock.schedule(after: delay, fire)
        }
        func cancel(_ timer: HostTimer) -> Bool {
            onCancel.withLock { $0.take() }?()
            return clock.cancel(timer)
        }
    }

    /// A system that refuses threads until it is told otherwise.
    private final class System: Sendable {
        private let isGiving = Mutex(false)

        func relent() { isGiving.withLock { $0 = true } }

        func make(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
            isGiving.withLock(\.self) && HostThread.start(name, body)
        }
    }

    @Test func `a gate that stops while a request completes waits for the callback`() async {
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let clock = InterposedClock()
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock, http: .patient)))
        let order = Journal<String>()
        let quiet = Mutex<OneShot<Void>?>(nil)
        clock.onCancel.withLock { onCancel in
            onCancel = {
                // The request is no longer listed, and its callback has not run yet.
                let event = plugin.gate.stop()
                order.note(event == nil ? "nothing is under way" : "the callback is under way")
                quiet.withLock { $0 = event }
            }
        }
        let end = await plugin.request(
            "GET",
            server.url(),
            onStart: { id in
                guard let http = unsafe plugin.http?.pointee else { return }
                unsafe http.cancel(http.context, id)
            },
            onDone: { order.note("done") }
        )
        await quiet.withLock(\.self)?.wait()
        #expect(end.status == CONNECTOR_CANCELLED)
        #expect(order.values.contains("the callback is under way"))
        #expect(order.values.count == 2)
    }

    @Test(arguments: ["answer", "deadline"])
    func `however a request ends, its callback is under way before the request is gone`(_ cause: String) async {
        let server = LoopbackServer { _ in cause == "answer" ? .response(200) : .stall }
        defer { server.stop() }
        let clock = InterposedClock()
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock, http: .patient)))
        let isQuiet = Mutex<Bool?>(nil)
        clock.onCancel.withLock { $0 = { isQuiet.withLock { $0 = plugin.gate.stop() == nil } } }
        let end = await plugin.request(
            "GET",
            server.url(),
            deadline: clock.now() + 1_000,
            onStart: { _ in if cause == "deadline" { clock.clock.advance(by: .seconds(1)) } }
        )
        #expect(end.isDone)
        #expect(isQuiet.withLock(\.self) == false)
    }

    @Test func `a timer that is due but still waits for a thread when the gate stops never fires`() async throws {
        let system = System()
        let clock = ManualHostClock()
        let host = HostServices(options: .init(clock: clock), threads: WorkerThreads(makeThread: system.make))
        let plugin = PluginSide(host: host)
        let counter = CallCounter()
        let table = try unsafe #require(plugin.clock).pointee
        var timer: UInt64 = 0
        unsafe #expect(
            table.start_timer(table.context, 100, CallCounter.fire, counter.pointer, &timer) == CONNECTOR_OK
        )
        clock.advance(by: .seconds(1))
        let quiet = try #require(plugin.gate.stop())
        #expect(quiet.value == nil)
        system.relent()
        await quiet.wait()
        #expect(counter.count == 0)
    }

    @Test func `a timer that fires after the gate has stopped does nothing`() async throws {
        let clock = ManualHostClock()
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let counter = CallCounter()
        let table = try unsafe #require(plugin.clock).pointee
        var timer: UInt64 = 0
        unsafe #expect(
            table.start_timer(table.context, 100, CallCounter.fire, counter.pointer, &timer) == CONNECTOR_OK
        )
        #expect(plugin.gate.stop() == nil)
        clock.advance(by: .seconds(1))
        await plugin.gate.stopAndAwaitCallbacks()
        #expect(counter.count == 0)
        unsafe #expect(table.cancel_timer(table.context, timer) == CONNECTOR_OK, "it has not run and will not")
        unsafe #expect(table.cancel_timer(table.context, timer) == CONNECTOR_UNKNOWN_OPERATION)
    }
}
