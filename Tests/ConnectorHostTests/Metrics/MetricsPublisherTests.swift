// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import CoreMetrics
import Dispatch
import Logging
import MetricsTestKit
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What an application's metrics system gets from the host.
@Suite(.timeLimit(.minutes(5))) struct MetricsPublisherTests {
    private let settings = #""probe": "off", "outbox": {"batch": {"count": 1}}"#

    @Test func `an application's metrics system gets what the host counts, every ten seconds and at the end`()
        async throws
    {
        let metrics = TestMetrics()
        let test = try withMetricsFactory(metrics) {
            try TestHost(TestHost.leaf("a", plugin: "deliveries", settings: settings))
        }
        let path = ("connector.path", "a")
        await test.host.open()
        #expect(metrics.meters.isEmpty)
        try await test.call("a", "last")
        let timer = try metrics.expectTimer(
            "connector.call.duration",
            [path, ("connector.operation", "deliveries/last")]
        )
        #expect(timer.values == [0], "the durations come at once")
        test.clock.advance(by: MetricsPublisher.interval)
        // The meter is there a moment before its first value.
        while (try? metrics.expectMeter("connector.gate.state", [path, ("connector.state", "open")]))?.lastValue == nil
        {
            try await Task.checkedYield()
        }
        let state = try metrics.expectMeter("connector.gate.state", [path, ("connector.state", "open")])
        #expect(state.lastValue == 1)
        try await test.host.analytics("a").track("Seen")
        _ = await test.host.report { $0["a"]?.outbox?.delivered == 1 }
        await test.host.close()
        #expect(state.lastValue == 0, "the host has closed")
        #expect(try metrics.expectCounter("connector.outbox.delivered", [path]).totalValue == 1)
        #expect(try metrics.expectCounter("connector.gate.attempts", [path]).totalValue == 1)
        #expect(try metrics.expectMeter("connector.outbox.queue.age", [path]).lastValue == 0)
        try await test.noTimers()
    }

    @Test func `a counter gets each count once, however often it is published`() async throws {
        let metrics = TestMetrics()
        let test = try withMetricsFactory(metrics) { try TestHost(TestHost.leaf("a")) }
        await test.host.open()
        let path = ("connector.path", "a")
        for round in 1...3 {
            try await test.host.close("a")
            try await test.host.open("a")
            let attempts = try? metrics.expectCounter("connector.gate.attempts", [path])
            test.clock.advance(by: MetricsPublisher.interval)
            while (try? metrics.expectCounter("connector.gate.attempts", [path]))?.totalValue != Int64(round + 1) {
                try await Task.checkedYield()
            }
            #expect(attempts?.totalValue ?? 0 <= Int64(round + 1))
            // The next publication is scheduled once this one has ended.
            await test.clock.timers(atLeast: 1)
        }
        await test.host.close()
        #expect(try metrics.expectCounter("connector.gate.attempts", [path]).totalValue == 4)
    }

    @Test func `instruments of a connector that a reload removes are removed from the metrics system`() async throws {
        let metrics = TestMetrics()
        let test = try withMetricsFactory(metrics) { try TestHost(TestHost.leaf("a"), TestHost.leaf("b")) }
        await test.host.open()
        for path in ["a", "b"] { try await test.call(path, "answer", ["value": 1]) }
        func meters(of path: String) -> [TestMeter] {
            metrics.meters.filter { $0.dimensions.contains { $0 == ("connector.path", path) } }
        }
        func counters(of path: String) -> [TestCounter] {
            metrics.counters.filter { $0.dimensions.contains { $0 == ("connector.path", path) } }
        }
        func timers(of path: String) -> [TestTimer] {
            metrics.timers.filter { $0.dimensions.contains { $0 == ("connector.path", path) } }
        }
        while meters(of: "b").isEmpty || counters(of: "b").isEmpty {
            test.clock.advance(by: MetricsPublisher.interval)
            try await Task.checkedYield()
        }
        #expect(timers(of: "b").count == 1)
        let leaf = TestHost.leaf("a", settings: #""required": false, "probe": "off""#)
        #expect(try await test.reload(leaf).isActive)
        #expect(timers(of: "b").isEmpty && timers(of: "a").count == 1)
        func ready() -> [TestMeter] { meters(of: "a").filter { $0.label == "connector.gate.ready" } }
        while !meters(of: "b").isEmpty || !counters(of: "b").isEmpty || ready().count != 1 {
            test.clock.advance(by: MetricsPublisher.interval)
            try await Task.checkedYield()
        }
        #expect(ready().map { $0.dimensions.contains { $0 == ("connector.required", "false") } } == [true])
        #expect(!counters(of: "a").isEmpty)
        await test.host.close()
    }

    @Test func `calls in flight do not recreate the timers of a connector that is gone`() {
        let metrics = TestMetrics()
        let metering = withMetricsFactory(metrics) { Metering(clock: ManualHostClock()) }
        let tally = CallTally("a", metering, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {}
        func end(_ error: ConnectorError?, _ operation: String) {
            let meter = unsafe tally.addMeter(of: operation, label: "calls/\(operation)").takeUnretainedValue()
            tally.end(error, of: meter, since: tally.begin())
        }
        end(nil, "answer")
        #expect(metrics.timers.count == 1)
        tally.retire()
        end(nil, "answer")
        end(ConnectorError(.unavailable, "it is away"), "answer")
        end(nil, "other")
        #expect(metrics.timers.isEmpty)
        #expect(tally.samples.count == 3)
    }

    /// A metrics system that does something while it makes a timer.
    private struct BusyMetrics: MetricsFactory {
        let metrics = TestMetrics()
        let body: @Sendable () -> Void

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            metrics.makeCounter(label: label, dimensions: dimensions)
        }

        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
            metrics.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            body()
            return metrics.makeTimer(label: label, dimensions: dimensions)
        }

        func destroyCounter(_ handler: any CounterHandler) { metrics.destroyCounter(handler) }
        func destroyRecorder(_ handler: any RecorderHandler) { metrics.destroyRecorder(handler) }
        func destroyTimer(_ handler: any TimerHandler) { metrics.destroyTimer(handler) }
    }

    @Test func `calls that end while the metrics system makes their timer are counted, and forwarded afterwards`()
        throws
    {
        let meter = Mutex<CallMeter?>(nil)
        let factory = BusyMetrics {
            let busy = meter.withLock { $0.take() }
            busy?.record(2, nil)
            #expect(busy?.samples.count == 1)
        }
        let made = CallMeter("calls/answer", of: "a", CallTimers(isSimulated: false, factory))
        meter.withLock { $0 = made }
        made.record(1, nil)
        made.record(3, nil)
        let dimensions = [("connector.path", "a"), ("connector.operation", "calls/answer")]
        let timer = try factory.metrics.expectTimer("connector.call.duration", dimensions)
        #expect(timer.values == [1, 2, 3])
        #expect(factory.metrics.timers.count == 1)
    }

    @Test(arguments: [false, true])
    func `timers of a connector that a reload prepares are removed unless the reload publishes it`(isPublished: Bool)
        throws
    {
        let metrics = TestMetrics()
        let metering = withMetricsFactory(metrics) { Metering(clock: ManualHostClock()) }
        let current = try TestHost(TestHost.leaf("a")).host.current
        let before = current.tree
        func next() -> Tree {
            let connectors = ["a", "b"].map { Connector($0, plugin: Fixtures.contract("calls")) }
            return Tree(connectors, after: [before], metering: metering, logger: Logger(label: "test")) { _ in
                before.gates[0]
            }
        }
        current.pending = next()
        let tally = try #require(current.pending?["b"]).tally
        let meter = unsafe tally.addMeter(of: "answer", label: "calls/answer").takeUnretainedValue()
        tally.end(nil, of: meter, since: tally.begin())
        #expect(metrics.timers.count == 1)
        if isPublished {
            let other = next()
            current.publish { _ in other }
            #expect(current.tree["b"] != nil)
        } else {
            current.pending = nil
        }
        #expect(metrics.timers.isEmpty)
    }

    @Test func `connectors keep their counts from a pending tree, and from the tree before it, to the published one`()
        throws
    {
        let metering = Metering(clock: ManualHostClock())
        let before = try TestHost(TestHost.leaf("a")).host.current.tree
        func next(after previous: [Tree]) -> Tree {
            let connectors = ["a", "b"].map { Connector($0, plugin: Fixtures.contract("calls")) }
            return Tree(connectors, after: previous, metering: metering, logger: Logger(label: "test")) { _ in
                before.gates[0]
            }
        }
        let pending = next(after: [before])
        let published = next(after: [pending, before])
        for path in ["a", "b"] { #expect(published[path]?.tally === pending[path]?.tally) }
        #expect(published["a"]?.tally === before["a"]?.tally)
    }

    @Test func `what earlier hosts delivered from the same outbox is not counted again`() async throws {
        let scratch = ScratchDirectory()
        var policy = DeliveryPolicy()
        policy.batchCount = 1
        let leaf = Connector("a", plugin: Fixtures.contract("deliveries"), probeInterval: nil, delivery: policy)
        let configuration = try Configuration(connectors: [leaf], state: scratch.path + "/state")
        for round in 1...2 as ClosedRange<UInt64> {
            let metrics = TestMetrics()
            let host = try withMetricsFactory(metrics) {
                try ConnectorHost(configuration, options: ConnectorHost.Options(stateDirectory: scratch.path))
            }
            await host.open()
            try await host.analytics("a").track("Seen").delivered()
            let stored = host.metrics.first { $0.definition == .delivered }?.value
            #expect(stored == .count(round), "readers get all that the outbox has counted")
            await host.close()
            let counter = try metrics.expectCounter("connector.outbox.delivered", [("connector.path", "a")])
            #expect(counter.totalValue == 1)
        }
    }

    @Test func `a publisher that has stopped stays stopped`() throws {
        let clock = ManualHostClock()
        let metering = withMetricsFactory(TestMetrics()) { Metering(clock: clock) }
        let publisher = try #require(MetricsPublisher(metering, WorkerThreads()))
        publisher.start { [] }
        publisher.start { [] }
        #expect(clock.timerCount == 1)
        publisher.stop()
        publisher.finish()
        #expect(clock.timerCount == 0)
        publisher.start { [] }
        #expect(clock.timerCount == 0)
    }

    @Test func `a publisher that stops while it publishes stays stopped`() async throws {
        let clock = ManualHostClock()
        let metering = withMetricsFactory(TestMetrics()) { Metering(clock: clock) }
        let workers = WorkerThreads()
        let publisher = try #require(MetricsPublisher(metering, workers))
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let mayRead = DispatchSemaphore(value: 0)
        publisher.start {
            begin.finish()
            mayRead.wait()
            return []
        }
        clock.advance(by: MetricsPublisher.interval)
        for await _ in begun {}
        let (stopping, stopped) = (OneShot<Void>(), OneShot<Void>())
        workers.run {
            stopping.send()
            publisher.stop()
            publisher.finish()
            stopped.send()
        }
        await stopping.wait()
        for _ in 0..<100 { await Task.yield() }
        // The pass under way, and the last one.
        for _ in 0..<2 { mayRead.signal() }
        await stopped.wait()
        publisher.start { [] }
        // The worker may still be between its pass and the next schedule.
        for _ in 0..<100 {
            await Task.yield()
            #expect(clock.timerCount == 0)
        }
    }

    @Test func `a pass that is under way when the host closes leaves every instrument in place`() async throws {
        let (metrics, clock) = (TestMetrics(), ManualHostClock())
        let metering = withMetricsFactory(metrics) { Metering(clock: clock) }
        let publisher = try #require(MetricsPublisher(metering, WorkerThreads()))
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let mayRead = DispatchSemaphore(value: 0)
        let path = ("connector.path", "a")
        let passes = Mutex(0)
        publisher.start {
            let pass = passes.withLock { passes in
                passes += 1
                return passes
            }
            guard pass == 2 else { return pass == 1 ? [MetricSample(.breakerOpenings, [path], .count(2))] : [] }
            begin.finish()
            mayRead.wait()
            return []
        }
        clock.advance(by: MetricsPublisher.interval)
        await clock.timers(atLeast: 1)
        clock.advance(by: MetricsPublisher.interval)
        for await _ in begun {}
        publisher.stop()
        mayRead.signal()
        publisher.finish()
        #expect(passes.withLock(\.self) == 3)
        #expect(try metrics.expectCounter("connector.breaker.openings", [path]).totalValue == 2)
    }

    /// Publishes some samples in a pass each, and others in the last pass.
    private func publish(_ first: [MetricSample]..., then last: [MetricSample], to metrics: TestMetrics) async throws {
        let clock = ManualHostClock()
        let metering = withMetricsFactory(metrics) { Metering(clock: clock) }
        let publisher = try #require(MetricsPublisher(metering, WorkerThreads()))
        let samples = Mutex<[MetricSample]>([])
        publisher.start { samples.withLock(\.self) }
        for pass in first {
            samples.withLock { $0 = pass }
            clock.advance(by: MetricsPublisher.interval)
            await clock.timers(atLeast: 1)
        }
        samples.withLock { $0 = last }
        publisher.stop()
        publisher.finish()
    }

    @Test func `earlier counts of an outbox are not counted again when its connector comes back or moves`()
        async throws
    {
        for path in ["a", "b"] {
            let metrics = TestMetrics()
            let origins: [(path: String, past: UInt64?)] = path == "a" ? [("a", 2)] : [("b", nil), ("a", 2)]
            try await publish(
                [MetricSample(.delivered, [("connector.path", "a")], .count(7), origins: [("a", 2)])],
                [],
                [MetricSample(.delivered, [("connector.path", path)], .count(8), origins: origins)],
                then: [MetricSample(.delivered, [("connector.path", path)], .count(10), origins: origins)],
                to: metrics
            )
            #expect(metrics.counters.count == 1)
            #expect(try metrics.expectCounter("connector.outbox.delivered", [("connector.path", path)]).totalValue == 3)
        }
    }

    @Test func `the counts of a new gate start from zero when its connector comes back`() async throws {
        let metrics = TestMetrics()
        let path = ("connector.path", "a")
        try await publish(
            [MetricSample(.gateAttempts, [path], .count(2))],
            [],
            then: [MetricSample(.gateAttempts, [path], .count(3))],
            to: metrics
        )
        #expect(try metrics.expectCounter("connector.gate.attempts", [path]).totalValue == 3)
    }

    @Test func `a count that goes on in another series as a simulation begins or ends is not published again`()
        async throws
    {
        let (path, mark) = (("connector.path", "a"), (MetricDefinition.simulatedAttribute, "true"))
        for isSimulated in [false, true] {
            let metrics = TestMetrics()
            let (before, after) = isSimulated ? ([path, mark], [path]) : ([path], [path, mark])
            try await publish(
                [MetricSample(.delivered, before, .count(7), origins: [("a", 2)])],
                then: [MetricSample(.delivered, after, .count(8), origins: [("a", 2)])],
                to: metrics
            )
            #expect(metrics.counters.count == 1)
            #expect(try metrics.expectCounter("connector.outbox.delivered", after).totalValue == 1)
        }
    }

    @Test func `the last pass keeps the counters that a closed gate no longer reports`() async throws {
        let metrics = TestMetrics()
        let path = ("connector.path", "a")
        try await publish(
            [MetricSample(.breakerOpenings, [path], .count(2)), MetricSample(.misbehaviours, [path], .count(1))],
            then: [MetricSample(.misbehaviours, [path], .count(4))],
            to: metrics
        )
        #expect(try metrics.expectCounter("connector.breaker.openings", [path]).totalValue == 2)
        #expect(try metrics.expectCounter("connector.gate.misbehaviours", [path]).totalValue == 4)
    }

    @Test func `without a metrics system there is neither a publisher nor a timer`() async throws {
        #expect(Metering(clock: ManualHostClock()).factory == nil)
        let test = try TestHost(TestHost.leaf("a"))
        await test.host.open()
        try await test.call("a", "answer", ["value": 1])
        try await test.noTimers()
        #expect(!test.host.metrics.isEmpty)
        await test.host.close()
    }
}
