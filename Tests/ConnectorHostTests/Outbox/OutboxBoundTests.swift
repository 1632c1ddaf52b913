// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorOutbox

/// What the outbox costs its host: the time to close, and reports.
@Suite(.timeLimit(.minutes(5))) struct OutboxBoundTests {
    @Test func `closing makes no further calls to a vendor that answers none`() async throws {
        let test = try await TestHost.opened()
        let name = TestHost.unique()
        let events = (0..<500).map { number in
            OutboxEvent(
                id: "event-\(number)",
                kind: EventKind("calls/1", "begin"),
                createdAt: test.clock.wallTime(),
                payload: Array(#"{"name":"\#(name)"}"#.utf8)
            )
        }
        _ = try await test.host.outbox.outbox.append(events, to: ["gate"])
        try await TestHost.taken(name)
        let hasClosed = Atomic(false)
        let closing = Task {
            await test.host.close(within: .seconds(5))
            hasClosed.store(true, ordering: .releasing)
        }
        while !hasClosed.load(ordering: .acquiring) {
            if test.clock.timerCount > 0, !test.isAskingRunners { test.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        await closing.value
        #expect(try test.gate("gate").calls?.total == 1)
        #expect(test.host.outbox(of: "gate")?.queued == 500, "the next host delivers them")
    }

    /// An event for the operation `answer`, one for another operation, and one for `answer` again.
    private func events(around operation: String, _ arguments: String, _ test: TestHost) -> [OutboxEvent] {
        let answer = ("answer", #"{"value":1}"#)
        return [answer, (operation, arguments), answer].enumerated().map { number, event in
            OutboxEvent(
                id: "event-\(number)",
                kind: EventKind("calls/1", event.0),
                createdAt: test.clock.wallTime(),
                payload: Array(event.1.utf8)
            )
        }
    }

    @Test func `events of a cancelled delivery are to be sent again, including the one under way`() async throws {
        let test = try await TestHost.opened()
        let node = try test.host.current.node("gate").node
        let name = TestHost.unique()
        let events = events(around: "begin", #"{"name":"\#(name)"}"#, test)
        let delivery = Task { await node.deliver(OutboxBatch(events: events)) }
        try await TestHost.taken(name)
        delivery.cancel()
        let answers = try await delivery.value.get()
        #expect(answers.map(\.outcome) == [.accepted, .retry, .retry])
        #expect(answers[1].code == .cancelled)
        await test.host.close()
    }

    /// Statuses of error.h: FAILED, UNSUPPORTED, CONFLICT and PROTOCOL, and INVALID and TOO_LARGE.
    @Test(arguments: [(1, false), (3, false), (6, false), (13, false), (2, true), (12, true)])
    func `of events that are delivered one by one, only one that is itself at fault is refused`(
        _ status: Int,
        isEventFault: Bool
    ) async throws {
        let test = try await TestHost.opened()
        let node = try test.host.current.node("gate").node
        let events = events(around: "refuse", #"{"status":\#(status)}"#, test)
        let answers = try await node.deliver(OutboxBatch(events: events)).get()
        let outcomes = answers.map(\.outcome)
        #expect(outcomes == (isEventFault ? [.accepted, .rejected, .accepted] : [.accepted, .retry, .retry]))
        #expect(answers.map(\.isUnsent) == [false, false, !isEventFault])
        await test.host.close()
    }

    @Test func `if the first of several events that are delivered one by one fails, the others were not sent`()
        async throws
    {
        let test = try await TestHost.opened()
        let node = try test.host.current.node("gate").node
        // CONNECTOR_UNAVAILABLE of error.h.
        let events = Array(events(around: "refuse", #"{"status":8}"#, test)[1...])
        let answers = try await node.deliver(OutboxBatch(events: events)).get()
        #expect(answers.map(\.outcome) == [.retry, .retry] && answers[0].code == .unavailable)
        #expect(answers.map(\.isUnsent) == [false, true])
        let alone = await node.deliver(OutboxBatch(events: [events[0]]))
        #expect(throws: ConnectorError.self) { try alone.get() }
        await test.host.close()
    }

    @Test func `events that are delivered one by one share the time of a delivery, and the next one sends the rest`()
        async throws
    {
        let test = try await TestHost.opened()
        let node = try test.host.current.node("gate").node
        let names = (1...3).map { _ in TestHost.unique() }
        let events = names.map { name in
            OutboxEvent(
                id: name,
                kind: EventKind("calls/1", "begin"),
                createdAt: test.clock.wallTime(),
                payload: Array(#"{"name":"\#(name)"}"#.utf8)
            )
        }
        let delivery = Task { await node.deliver(OutboxBatch(events: events)) }
        for name in names.prefix(2) {
            try await TestHost.taken(name)
            test.clock.advance(by: .seconds(10))
            _ = try await TestHost.finish(name)
        }
        let answers = try await delivery.value.get()
        #expect(answers.map(\.outcome) == [.accepted, .accepted, .retry])
        #expect(answers.map(\.isUnsent) == [false, false, true])
        await test.host.close()
    }

    @Test func `a cancelled delivery of single events makes no further call`() async throws {
        let test = try await TestHost.opened()
        let node = try test.host.current.node("gate").node
        let events = events(around: "answer", #"{"value":1}"#, test)
        let delivery = Task {
            while !Task.isCancelled { await Task.yield() }
            return await node.deliver(OutboxBatch(events: events))
        }
        delivery.cancel()
        #expect(try await delivery.value.get().map(\.isUnsent) == [true, true, true])
        #expect(try test.gate("gate").calls?.total ?? 0 == 0)
        await test.host.close()
    }

    @Test func `a closed host tracks nothing, opens no outbox, and says so`() async throws {
        for opens in [true, false] {
            let scratch = ScratchDirectory()
            let host = try ConnectorHost.testing(
                "[\(TestHost.leaf("a", plugin: "deliveries"))]",
                plugins: [Fixtures.contract("deliveries")],
                stateDirectory: scratch.path + "/state"
            )
            if opens {
                await host.open()
                try await host.analytics("a").track("Seen")
            }
            let analytics = try host.analytics("a")
            await host.close()
            let error = await #expect(throws: ConnectorError.self) { try await analytics.track("Seen") }
            #expect(error?.code == .notOpen && error?.connector == "a")
            let claim = await #expect(throws: ConnectorError.self) { try await host.claimOutbox() }
            #expect(claim?.code == .notOpen)
            #expect(scratch.names(in: "/state").isEmpty == !opens)
        }
    }

    @Test func `a burst of events makes few reports, and the last one is accurate`() async throws {
        let test = try TestHost(
            TestHost.leaf("a", plugin: "deliveries", settings: #""probe": "off", "outbox": {"batch": {"count": 1}}"#)
        )
        await test.host.open()
        let start = ContinuousClock.now
        let reading = Task {
            var count = 0
            for await report in test.host.reports {
                count += 1
                if report["a"]?.outbox?.delivered == 300 { break }
            }
            return count
        }
        let analytics = try test.host.analytics("a")
        for _ in 1...300 { try await analytics.track("Seen") }
        let count = await reading.value
        let tenths = Int((ContinuousClock.now - start) / .milliseconds(100))
        #expect(count <= tenths + 3, "\(count) in \(tenths) tenths of a second")
        await test.host.close()
    }

    @Test func `activity of the outbox is not a change of any gate`() {
        let changes = ReportChanges()
        let all = Atomic(0)
        let gates = Atomic(0)
        changes.watchGates { gates.add(1, ordering: .relaxed) }
        let throttle = ChangeThrottle(every: 100, on: ManualHostClock()) {
            all.add(1, ordering: .relaxed)
            changes.notify()
        }
        for _ in 1...1000 { throttle.note() }
        var counts = (all.load(ordering: .relaxed), gates.load(ordering: .relaxed))
        #expect(counts == (1, 0))
        changes.notifyGate()
        counts = (all.load(ordering: .relaxed), gates.load(ordering: .relaxed))
        #expect(counts == (1, 1))
    }

    @Test func `the first change is announced at once, those after it together, and the last one always`() {
        let clock = ManualHostClock()
        let announced = Atomic(0)
        let throttle = ChangeThrottle(every: 100_000_000, on: clock) { announced.add(1, ordering: .relaxed) }
        func count() -> Int { announced.load(ordering: .relaxed) }
        throttle.note()
        #expect(count() == 1)
        for _ in 1...1000 { throttle.note() }
        #expect(count() == 1)
        clock.advance(by: .milliseconds(100))
        #expect(count() == 2)
        clock.advance(by: .milliseconds(100))
        #expect(count() == 2 && clock.timerCount == 0)
        throttle.note()
        #expect(count() == 3)
    }
}
