// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import CoreMetrics
import MetricsTestKit
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What an application's metrics system gets of the host.
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
            await Task.yield()
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
        await test.noTimers()
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
                await Task.yield()
            }
            #expect(attempts?.totalValue ?? 0 <= Int64(round + 1))
            // The next publication is scheduled once this one has ended.
            await test.clock.timers(atLeast: 1)
        }
        await test.host.close()
        #expect(try metrics.expectCounter("connector.gate.attempts", [path]).totalValue == 4)
    }

    @Test func `without a metrics system there is neither a publisher nor a timer`() async throws {
        #expect(Metering(clock: ManualHostClock()).factory == nil)
        let test = try TestHost(TestHost.leaf("a"))
        await test.host.open()
        try await test.call("a", "answer", ["value": 1])
        await test.noTimers()
        #expect(!test.host.metrics.isEmpty)
        await test.host.close()
    }
}
