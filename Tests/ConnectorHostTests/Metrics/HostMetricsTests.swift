// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorOutbox
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What the host counts, as metrics.
@Suite(.timeLimit(.minutes(5))) struct HostMetricsTests {
    /// The values of a metric's series, by their attributes but the path.
    private func values(_ definition: MetricDefinition, at path: String, in host: ConnectorHost) -> [[String]: UInt64] {
        var values: [[String]: UInt64] = [:]
        for sample in host.metrics where sample.definition == definition {
            guard sample.attributes.first?.value == path else { continue }
            let key = sample.attributes.dropFirst().map(\.value)
            switch sample.value {
            case .count(let count): values[key] = count
            case .number(let number): values[key] = UInt64(number)
            case .histogram(let histogram): values[key] = histogram.count
            }
        }
        return values
    }

    @Test func `calls by name are counted by operation and code, and timed`() async throws {
        let test = try TestHost(TestHost.composite("group", "all", TestHost.leaf("a")), TestHost.leaf("b"))
        await test.host.open()
        try await test.call("group", "answer", ["value": 1])
        try await test.call("b", "answer", ["value": 1])
        try await test.call("b", "calls/answer", ["value": 1])
        _ = try await failure { () throws(ConnectorError) in try await test.call("b", "refuse", ["status": 3]) }
        for path in ["group", "group/a"] {
            #expect(values(.callDuration, at: path, in: test.host) == [["calls/answer"]: 1])
        }
        let counts = values(.callDuration, at: "b", in: test.host)
        #expect(counts[["calls/answer"]] == 2)
        #expect(counts.filter { $0.key.first == "calls/refuse" }.map(\.value) == [1])
        #expect(counts.count == 2)
        await test.host.close()
    }

    @Test func `whether events can be stored, and whether the file is what runs, are series of the host`() async throws
    {
        let test = try TestHost(TestHost.leaf("a", plugin: "deliveries"))
        await test.host.open()
        #expect(test.host.prometheusText.contains("\nconnector_outbox_ready 1\n"))
        #expect(test.host.prometheusText.contains("\nconnector_configuration_current 1\n"))
        test.host.outbox.outbox.setFault(ConnectorError(.storage, "the disk is full"))
        test.host.running.note([ConnectorError(.invalid, "the file is not JSON")])
        #expect(test.host.prometheusText.contains("\nconnector_outbox_ready 0\n"))
        #expect(test.host.prometheusText.contains("\nconnector_configuration_current 0\n"))
        await test.host.close()
        let silent = try TestHost(TestHost.leaf("a"))
        #expect(!silent.host.prometheusText.contains("connector_outbox_ready"), "it sends no events")
        await silent.host.close()
    }

    @Test func `a duration lands in the bucket of its length`() async throws {
        let test = try TestHost(TestHost.leaf("a"))
        await test.host.open()
        let name = TestHost.unique()
        async let answer = test.call("a", "begin", ["name": .string(name)])
        try await TestHost.taken(name)
        test.clock.advance(by: .milliseconds(300))
        try await TestHost.finish(name)
        _ = try await answer
        let sample = try #require(test.host.metrics.first { $0.definition == .callDuration })
        guard case .histogram(let histogram) = sample.value else {
            Issue.record("not a histogram")
            return
        }
        let place = try #require(histogram.counts.firstIndex(of: 1))
        #expect(DurationHistogram.bounds[place] == 0.5 && DurationHistogram.bounds[place - 1] == 0.25)
        #expect(histogram.sum == 300_000_000)
        await test.host.close()
    }

    @Test func `operation names that no manifest has share one series, however many callers invent`() async throws {
        let test = try TestHost(TestHost.leaf("a"), TestHost.composite("group", "all", TestHost.leaf("b")))
        await test.host.open()
        for number in 1...1000 {
            for path in ["a", "group"] {
                _ = try await failure { () throws(ConnectorError) in try await test.call(path, "invented\(number)") }
            }
        }
        #expect(values(.callDuration, at: "a", in: test.host).map(\.value) == [1000])
        #expect(values(.callDuration, at: "group", in: test.host).keys.map(\.first) == [MetricDefinition.other])
        #expect(test.host.metrics.count < 60)
        await test.host.close()
    }

    @Test func `codes beyond the limit share one series`() {
        let meter = CallMeter("a/b", of: "c", nil)
        for number in 1...1000 { meter.record(1, ConnectorError.Code(rawValue: "code-\(number)")) }
        meter.record(1, nil)
        let samples = meter.samples
        #expect(samples.count <= ConnectorError.Code.countLimit + 2)
        let total = samples.reduce(0 as UInt64) { sum, sample in
            guard case .histogram(let histogram) = sample.value else { return sum }
            return sum + histogram.count
        }
        #expect(total == 1001)
    }

    @Test func `typed and prepared calls are counted at the rundown guard, and their failures by code`() async throws {
        let test = try TestHost(TestHost.leaf("forms", plugin: "forms"))
        let gate = try test.host.gate("forms")
        let add = try gate.typed("integers2", "(a: i64, b: i64) -> i64", as: OperationFunction.Integers2.self)
        _ = try await failure { () throws(ConnectorError) in try await add(1, 2) }
        #expect(values(.typedCalls, at: "forms", in: test.host) == [[]: 0], "the call was not let in")
        await test.host.open()
        for _ in 1...3 { _ = try await add(1, 2) }
        try await add.withLease { lease throws(ConnectorError) in
            for _ in 1...10 { _ = try lease(1, 2) }
        }
        try await gate.withPrepared("integers2") { call throws(ConnectorError) in
            try call.set(1, at: 0)
            try call.set(2, at: 1)
            try call()
        }
        _ = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("integers2") { call throws(ConnectorError) in try call() }
        }
        #expect(values(.typedCalls, at: "forms", in: test.host) == [[]: 6])
        #expect(values(.typedFailures, at: "forms", in: test.host) == [["not-open"]: 1, ["invalid"]: 1])
        #expect(values(.activeCalls, at: "forms", in: test.host) == [[]: 0])
        await test.host.close()
    }

    @Test func `calls in flight include those that wait for their turn`() async throws {
        let test = try TestHost(TestHost.leaf("a", plugin: "serial"))
        await test.host.open()
        let name = TestHost.unique()
        async let first = test.call("a", "begin", ["name": .string(name)])
        try await TestHost.taken(name, plugin: "serial")
        #expect(values(.activeCalls, at: "a", in: test.host) == [[]: 1])
        async let second = test.call("a", "answer", ["value": 1])
        while values(.activeCalls, at: "a", in: test.host) != [[]: 2] { try await Task.checkedYield() }
        try await TestHost.finish(name, plugin: "serial")
        _ = try await (first, second)
        while values(.activeCalls, at: "a", in: test.host) != [[]: 0] { try await Task.checkedYield() }
        await test.host.close()
    }

    @Test func `states, attempts and misbehaviour are reported for every gate`() async throws {
        let test = try TestHost(
            TestHost.leaf("good"),
            TestHost.leaf("bad", ["opens": "refuses"], settings: #""required": false, "probe": "off""#),
            TestHost.leaf("odd", ["opens": "twice"])
        )
        await test.host.open()
        let good = values(.gateState, at: "good", in: test.host)
        #expect(good.count == GateState.allCases.count && good.values.reduce(0, +) == 1 && good[["open"]] == 1)
        #expect(values(.gateState, at: "bad", in: test.host)[["failed"]] == 1)
        #expect(values(.gateReady, at: "good", in: test.host) == [["true"]: 1])
        #expect(values(.gateReady, at: "bad", in: test.host) == [["false"]: 0])
        #expect(values(.gateAttempts, at: "good", in: test.host) == [[]: 1])
        #expect(values(.gateAttempts, at: "bad", in: test.host) == [["unauthorized"]: 1])
        #expect(values(.misbehaviours, at: "good", in: test.host) == [[]: 0])
        #expect(values(.misbehaviours, at: "odd", in: test.host) == [[]: 1])
        try await test.host.retry("bad")
        #expect(values(.gateAttempts, at: "bad", in: test.host) == [["unauthorized"]: 2])
        await test.host.close()
    }

    @Test(arguments: [
        (Isolation.Kind?.none, 0, UInt64?.none), (nil, 2, 2), (.process, 0, 0), (.process, 2, 2),
    ])
    func `the crashes of a plugin are still counted once it has returned to the host's process`(
        _ isolation: Isolation.Kind?,
        _ crashes: Int,
        _ counted: UInt64?
    ) {
        var report = GateReport(path: "gate", state: .open)
        (report.isolation, report.crashCount) = (isolation, crashes)
        let samples = report.samples((MetricDefinition.pathAttribute, "gate"), now: Timestamp(nanoseconds: 0))
        #expect(samples.first { $0.definition == .crashes }?.value == counted.map { .count($0) })
    }

    @Test func `the outbox reports its length, its age, and what became of its events`() async throws {
        let settings = #""probe": "off", "outbox": {"batch": {"count": 1}}"#
        let test = try TestHost(
            TestHost.leaf("a", plugin: "deliveries", settings: settings),
            TestHost.leaf("b", plugin: "deliveries", ["away": 1_000_000], settings: settings)
        )
        await test.host.open()
        #expect(values(.queueEvents, at: "a", in: test.host).isEmpty, "there never was an event")
        try await test.host.analytics("a").track("Seen")
        try await test.host.analytics("b").track("Seen")
        _ = await test.host.report { $0["a"]?.outbox?.delivered == 1 && $0["b"]?.outbox?.code != nil }
        test.clock.advance(by: .seconds(7))
        #expect(values(.queueEvents, at: "a", in: test.host) == [[]: 0])
        #expect(values(.queueAge, at: "a", in: test.host) == [[]: 0])
        #expect(values(.delivered, at: "a", in: test.host) == [[]: 1])
        #expect(values(.queueEvents, at: "b", in: test.host) == [[]: 1])
        #expect(values(.queueAge, at: "b", in: test.host) == [[]: 7])
        #expect(values(.queueSize, at: "b", in: test.host)[[]] ?? 0 > 0)
        #expect(values(.dropped, at: "b", in: test.host) == [[]: 0])
        #expect(values(.deadLetters, at: "b", in: test.host) == [[]: 0])
        await test.host.close()
    }
}
