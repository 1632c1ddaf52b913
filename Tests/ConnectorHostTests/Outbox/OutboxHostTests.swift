// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorOutbox

/// The outbox as an application meets it: clients, composites, receipts and the report.
@Suite(.timeLimit(.minutes(5))) struct OutboxHostTests {
    /// The fixture answers for one event at a time.
    private static let queued = #""probe": "off", "outbox": {"batch": {"count": 1}}"#

    private func leaf(_ name: String, away: Int64 = 0, pause: Int64 = 2, settings: String = queued) -> String {
        let config: JSONObject = ["away": .integer(away), "pause": .integer(pause)]
        return TestHost.leaf(name, plugin: "deliveries", config, settings: settings)
    }

    @Test func `a vendor that is away slows no other, and the report says which one and why`() async throws {
        let test = try TestHost(
            TestHost.composite(
                "vendors",
                "all",
                leaf("a"),
                leaf("b", away: 1_000_000),
                leaf("c", settings: #""probe": "off", "delivery": "direct""#)
            )
        )
        await test.host.open()
        let analytics = try test.host.analytics("vendors")
        for _ in 1...5 {
            let receipt = try await analytics.track("Seen")
            #expect(receipt.connectors == ["vendors/a", "vendors/b"])
            #expect(receipt.outcomes.map(\.connector) == ["vendors/c"])
        }
        // What was delivered is counted by the delivery, and what waits by the engine.
        let report = await test.host.report {
            $0["vendors/a"]?.outbox?.delivered == 5 && $0["vendors/a"]?.outbox?.queued == 0
                && $0["vendors/b"]?.outbox?.code != nil
        }
        let (good, bad) = (try #require(report["vendors/a"]), try #require(report["vendors/b"]))
        #expect(good.state == .open && good.outbox?.queued == 0 && good.outbox?.lastDelivered != nil)
        #expect(good.evidence.contains { $0.kind == .delivered && $0.detail == "took 5 events" })
        #expect(bad.state == .degraded && bad.error?.connector == "vendors/b")
        #expect(bad.outbox?.queued == 5 && bad.outbox?.oldest != nil && bad.outbox?.failure == "the vendor is away")
        #expect(report["vendors/c"]?.outbox == nil)
        #expect(try await test.host.flush("vendors/a"))
        await test.host.close()
        #expect(test.host.outbox(of: "vendors/b")?.queued == 5, "what is left stays")
    }

    @Test func `an operator's retry sends what waits at a connector, or at all below a composite`() async throws {
        let test = try TestHost(TestHost.composite("vendors", "all", leaf("a", away: 1), leaf("b", away: 1)))
        await test.host.open()
        let analytics = try test.host.analytics("vendors")
        _ = try await analytics.track("Seen")
        _ = await test.host.report {
            $0["vendors/a"]?.outbox?.nextAttemptAt != nil && $0["vendors/b"]?.outbox?.nextAttemptAt != nil
        }
        try await test.host.retry("vendors/a")
        #expect(try await test.host.flush("vendors/a"))
        #expect(test.host.outbox(of: "vendors/b")?.queued == 1)
        try await test.host.retry("vendors")
        #expect(try await test.host.flush("vendors/b"))
        await test.host.close()
    }

    @Test func `a service that flushes without a limit ends when its group shuts down, and one with a limit flushes`()
        async throws
    {
        let test = try TestHost(leaf("a", away: 1))
        try await test.host.analytics("a").track("Seen")
        let ended = try await ServiceEnd.atShutdown { () throws(ConnectorError) in _ = try await test.host.flush() }
        #expect(ended?.code == .cancelled && ended?.message == "the service group shut down first")
        #expect(ended?.fix?.hasSuffix("set a limit: flush(within:)") == true)
        #expect(test.host.outbox(of: "a")?.queued == 1)
        await test.host.open()
        _ = await test.host.report { $0["a"]?.outbox?.nextAttemptAt != nil }
        let flushed = try await ServiceEnd.afterShutdown { () throws(ConnectorError) in
            try await test.host.retry("a")
            let isEmpty = try await test.host.flush(within: .seconds(60))
            guard isEmpty else { throw ConnectorError(.timedOut, "the queue is not empty") }
        }
        #expect(flushed == nil)
        // Without a wait, a shutdown ends nothing.
        let idle = try await ServiceEnd.afterShutdown { () throws(ConnectorError) in _ = try await test.host.flush() }
        #expect(idle == nil)
        await test.host.close()
    }

    private static let full =
        #""probe": "off", "outbox": {"batch": {"count": 1}, "maxBytes": 1, "whenFull": "dropNewest"}"#

    @Test func `a receipt says which connector's full outbox dropped the event, and that it was not delivered there`()
        async throws
    {
        let test = try TestHost(TestHost.composite("vendors", "all", leaf("a", settings: Self.full), leaf("b")))
        let analytics = try test.host.analytics("vendors")
        // Nothing leaves the queues before the host opens.
        #expect(try await analytics.track("Seen").dropped.isEmpty)
        let receipt = try await analytics.track("Seen")
        #expect(receipt.connectors == ["vendors/b"] && receipt.dropped == ["vendors/a"])
        #expect(receipt.deliveryModes == ["vendors/b": .queued])
        await test.host.open()
        let error = await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        #expect(error?.code == .partial)
        #expect(error?.outcomes.map(\.connector) == ["vendors/b", "vendors/a"])
        #expect(error?.outcomes.map(\.isSuccess) == [true, false])
        await test.host.close()
    }

    @Test(
        arguments: [
            (queued, true), (full, false), (#""probe": "off", "delivery": "direct""#, false),
        ] as [(String, Bool)]
    )
    func `events are stored in one step unless a connector's outbox may be full, or it has none`(
        _ settings: String,
        _ isOneStep: Bool
    ) async throws {
        let test = try TestHost(TestHost.composite("vendors", "all", leaf("a", settings: settings), leaf("b")))
        let gate = try test.host.gate("vendors")
        var events: [GateClient.CheckedEvent] = []
        for number in 1...300 {
            let id = JSONValue.string("m\(number)")
            events.append(try gate.checked("track", ["event": "Seen", "userId": "u1", "messageId": id]))
        }
        let receipts = try await gate.store(events)
        #expect((receipts != nil) == isOneStep)
        if let receipts {
            #expect(receipts.map(\.id) == events.map(\.id) && events.last?.id == "m300")
            #expect(receipts.last?.connectors == ["vendors/a", "vendors/b"])
        }
        #expect(test.host.outbox(of: "vendors/b")?.queued ?? 0 == (isOneStep ? 300 : 0))
        await test.host.close()
    }

    @Test func `later events wait behind one that finds its vendor away, and were not tried`() async throws {
        let test = try await TestHost.opened()
        let outbox = test.host.outbox.outbox
        let name = TestHost.unique()
        let sent = [("answer", #"{"value":1}"#), ("begin", #"{"name":"\#(name)"}"#), ("answer", #"{"value":2}"#)]
        let events = sent.enumerated().map { number, event in
            OutboxEvent(
                id: "event-\(number)",
                kind: EventKind("calls/1", event.0),
                createdAt: test.clock.wallTime(),
                payload: Array(event.1.utf8)
            )
        }
        _ = try await outbox.append(events, to: ["gate"])
        try await TestHost.taken(name)
        // CONNECTOR_UNAVAILABLE of error.h.
        _ = try await PendingCalls.perform("fail", ["name": .string(name), "status": 8], plugin: "calls")
        let report = await test.host.report { $0["gate"]?.outbox?.nextAttemptAt != nil }
        let gate = try #require(report["gate"])
        #expect(gate.state == .degraded && gate.error?.code == .unavailable)
        #expect(gate.outbox?.delivered == 1 && gate.outbox?.queued == 2)
        let waiting = try await outbox.engine().records(RecordSelection(states: [.queued]))
        #expect(waiting.map(\.event.id) == ["event-1", "event-2"])
        #expect(waiting.map { $0.attempts.map(\.failure?.code) } == [[.unavailable], []])
        // The wait that the vendor asks for.
        test.clock.advance(by: .seconds(3))
        try await test.counts("gate", "running", reach: 1)
        #expect(test.host.outbox(of: "gate")?.queued == 2, "the last event waits for its turn")
        _ = try await TestHost.finish(name)
        while test.host.outbox(of: "gate")?.delivered != 3 { try await Task.checkedYield() }
        await test.host.close()
    }

    private static let breaker = #""probe": "off", "breaker": {"failures": 1, "probe": "10s"}"#

    @Test func `an event that waits behind an open breaker is delivered once the breaker's time has come`() async throws
    {
        let test = try await TestHost.opened(leaf("a", away: 1, settings: Self.breaker))
        let outbox = test.host.outbox.outbox
        func isPaused() -> Bool { if case .paused? = outbox.condition(of: "a") { true } else { false } }
        let receipt = try await test.host.gate("a").send("place", ["order": ["n": 1]])
        while !isPaused() { try await Task.checkedYield() }
        test.clock.advance(by: .seconds(2))
        while outbox.condition(of: "a") != .waitingForGate { try await Task.checkedYield() }
        #expect(try test.gate("a").state == .degraded)
        test.clock.advance(by: .seconds(8))
        try await receipt.delivered()
        #expect(try test.gate("a").breaker?.state == .closed)
        await test.host.close()
    }

    @Test func `an event that waits for the end of a trial call is delivered even if that call proves nothing`()
        async throws
    {
        let test = try await TestHost.opened(TestHost.leaf("gate", settings: Self.breaker))
        let outbox = test.host.outbox.outbox
        // CONNECTOR_UNAVAILABLE of error.h.
        _ = try await failure { () throws(ConnectorError) in try await test.call("gate", "refuse", ["status": 8]) }
        test.clock.advance(by: .seconds(10))
        let name = TestHost.unique()
        let trial = Task { try await failure { () throws(ConnectorError) in try await test.begin(name) } }
        try await TestHost.taken(name)
        let event = OutboxEvent(
            id: "event",
            kind: EventKind("calls/1", "answer"),
            createdAt: test.clock.wallTime(),
            payload: Array(#"{"value":1}"#.utf8)
        )
        _ = try await outbox.append([event], to: ["gate"])
        while outbox.condition(of: "gate") != .waitingForGate { try await Task.checkedYield() }
        trial.cancel()
        #expect(try await trial.value.code == .cancelled)
        while test.host.outbox(of: "gate")?.delivered != 1 { try await Task.checkedYield() }
        await test.host.close()
    }

    @Test(arguments: ["first", "fastest"])
    func `a composite with one recipient has one outbox, and its policy decides who takes the event`(_ policy: String)
        async throws
    {
        let test = try TestHost(
            TestHost.composite("vendors", policy, leaf("a"), leaf("b"))
        )
        await test.host.open()
        try await test.host.close("vendors/a")
        let receipt = try await test.host.analytics("vendors").track("Seen")
        #expect(receipt.connectors == ["vendors"])
        try await receipt.delivered()
        let last = try await test.call("vendors/b", "last")
        #expect(try JSONValue(parsing: #require(last.string)).array?.first?["messageId"]?.string == receipt.id)
        #expect(test.host.outbox(of: "vendors/a") == nil)
        await test.host.close()
    }

    @Test(arguments: ["first", "fastest"])
    func `a child that asks for a batch again gives way to one that takes it`(_ policy: String) async throws {
        let test = try TestHost(TestHost.composite("vendors", policy, leaf("a", away: 1_000_000), leaf("b")))
        await test.host.open()
        let receipt = try await test.host.analytics("vendors").track("Seen")
        let report = await test.host.report {
            $0["vendors"]?.outbox?.delivered == 1 || $0["vendors"]?.outbox?.code != nil
        }
        #expect(report["vendors"]?.outbox?.delivered == 1)
        let last = try await test.call("vendors/b", "last")
        #expect(try JSONValue(parsing: #require(last.string)).array?.first?["messageId"]?.string == receipt.id)
        await test.host.close()
    }

    @Test func `while every child of a composite asks for a batch again, it waits and is no dead letter`()
        async throws
    {
        let test = try TestHost(
            TestHost.composite("vendors", "first", leaf("a", away: 1_000_000), leaf("b", away: 2))
        )
        await test.host.open()
        let receipt = try await test.host.analytics("vendors").track("Seen")
        let report = await test.host.report { $0["vendors"]?.outbox?.code != nil }
        #expect(report["vendors"]?.outbox?.failure == "the vendor is away")
        #expect(report["vendors"]?.outbox?.queued == 1 && report["vendors"]?.outbox?.dead == 0)
        // Each attempt asks the first one again, and the second one takes it once that is back.
        let delivery = Task { try await receipt.delivered() }
        while let outbox = test.host.outbox(of: "vendors"), outbox.delivered != 1 {
            // The clock stands still while an attempt is made.
            if outbox.nextAttemptAt != nil { test.clock.advance(by: .seconds(5)) }
            try await Task.checkedYield()
        }
        try await delivery.value
        await test.host.close()
    }

    private func calls(_ test: TestHost, _ path: String) throws -> UInt64 { try test.gate(path).calls?.total ?? 0 }

    @Test func `a child that asks for a wait gets no events until that is over, as long as another one takes them`()
        async throws
    {
        let test = try TestHost(TestHost.composite("vendors", "first", leaf("a", away: 1, pause: 60), leaf("b")))
        await test.host.open()
        let analytics = try test.host.analytics("vendors")
        try await analytics.track("First").delivered()
        #expect(try calls(test, "vendors/a") == 1)
        try await analytics.track("Second").delivered()
        #expect(try calls(test, "vendors/a") == 1)
        test.clock.advance(by: .seconds(60))
        try await analytics.track("Third").delivered()
        #expect(try calls(test, "vendors/a") == 2)
        await test.host.close()
    }

    @Test func `the queue of a first waits for the child that may be asked again soonest, and asks that one alone`()
        async throws
    {
        let test = try TestHost(
            TestHost.composite(
                "vendors",
                "first",
                leaf("a", away: 1_000_000, pause: 0),
                leaf("b", away: 1_000_000, pause: 86_400)
            )
        )
        await test.host.open()
        _ = try await test.host.analytics("vendors").track("Seen")
        for attempt: UInt64 in 1...3 {
            while try calls(test, "vendors/a") != attempt { try await Task.checkedYield() }
            // Until then the report has the time of this attempt.
            func isWaiting() -> Bool {
                (test.host.outbox(of: "vendors")?.nextAttemptAt).map { $0 > test.clock.wallTime() } ?? false
            }
            while !isWaiting() { try await Task.checkedYield() }
            test.clock.advance(by: .seconds(60))
        }
        #expect(try calls(test, "vendors/b") == 1)
        // An operator who wants an attempt gets one at every child.
        try await test.host.retry("vendors")
        while try calls(test, "vendors/b") != 2 { try await Task.checkedYield() }
        await test.host.close()
    }

    @Test func `an outbox in memory touches neither disk nor servers, and the report says what it loses`() async throws
    {
        let scratch = ScratchDirectory()
        let plugin = JSONValue.string(Fixtures.contract("deliveries"))
        let file: JSONValue = [
            "version": 1, "state": .string(scratch.path + "/state"),
            "outbox": ["engine": "nats", "url": "nats://127.0.0.1:1"],
            "connectors": [["name": "a", "plugin": plugin, "probe": "off", "outbox": ["batch": ["count": 1]]]],
        ]
        var options = ConnectorHost.Options(stateDirectory: scratch.path)
        options.outbox = .memory
        let host = try ConnectorHost(Configuration(parsing: file.serialized(pretty: false)), options: options)
        await host.open()
        try await host.analytics("a").track("Seen").delivered()
        #expect(host.outbox(of: "a")?.delivered == 1)
        #expect(host.outbox(of: "a")?.stability == "memory; the end of the process loses everything")
        #expect(try await host.migrateOutbox() == [])
        await host.close()
        #expect(scratch.names() == [])
    }

    @Test(arguments: [true, false])
    func `a host whose outbox is on servers that cannot be reached is not ready, unless its gates take no events`(
        delivers: Bool
    ) async throws {
        for (name, takesEvents) in [("deliveries", true), ("values", false)] {
            let scratch = ScratchDirectory()
            let plugin = JSONValue.string(Fixtures.contract(name))
            let file: JSONValue = [
                "version": 1, "outbox": ["engine": "nats", "url": "nats://127.0.0.1:1"],
                "connectors": [["name": "a", "plugin": plugin, "probe": "off"]],
            ]
            var options = ConnectorHost.Options(stateDirectory: scratch.path)
            options.delivers = delivers
            let host = try ConnectorHost(Configuration(parsing: file.serialized(pretty: false)), options: options)
            let report = await host.open()
            #expect(report.isReady != takesEvents)
            #expect(report.outboxError?.code == (takesEvents ? .storage : nil))
            await host.close()
        }
    }

    @Test func `a host whose gates take no events neither needs nor checks an outbox`() async throws {
        for (name, takesEvents) in [("deliveries", true), ("values", false)] {
            let scratch = ScratchDirectory()
            scratch.write(Array("no directory".utf8), to: "state")
            let host = try ConnectorHost.testing(
                "[\(TestHost.leaf("a", plugin: name, settings: #""probe": "off""#))]",
                plugins: [Fixtures.contract(name)],
                stateDirectory: scratch.path + "/state"
            )
            let report = await host.open()
            #expect(report.isReady != takesEvents)
            #expect((report.outboxError != nil) == takesEvents)
            await host.close()
        }
    }

    @Test func `an event that a host leaves behind is delivered by the next one, with the same id`() async throws {
        let scratch = ScratchDirectory()
        func host(away: Int64) throws -> ConnectorHost {
            try ConnectorHost.testing(
                "[\(leaf("a", away: away))]",
                plugins: [Fixtures.contract("deliveries")],
                stateDirectory: scratch.path + "/state"
            )
        }
        let first = try host(away: 1_000_000)
        await first.open()
        let receipt = try await first.analytics("a").track("Seen")
        _ = await first.report { $0["a"]?.outbox?.code != nil }
        await first.close()
        let second = try host(away: 0)
        await second.open()
        _ = await second.report { $0["a"]?.outbox?.delivered == 1 }
        let last = try await second.gate("a").call("last")
        #expect(try JSONValue(parsing: #require(last.string)).array?.first?["messageId"]?.string == receipt.id)
        await second.close()
    }

    @Test func `a report warns of events that wait elsewhere while no host delivers them`()
        async throws
    {
        let scratch = ScratchDirectory()
        func opened(_ name: String = "", away: Int64) async throws -> ConnectorHost {
            let host = try ConnectorHost.testing(
                #"{"version": 1, \#(name)"connectors": [\#(leaf("a", away: away))]}"#,
                plugins: [Fixtures.contract("deliveries")],
                stateDirectory: scratch.path + "/state"
            )
            await host.open()
            return host
        }
        let other = try await opened(away: 1_000_000)
        try await other.analytics("a").track("Seen")
        _ = await other.report { $0["a"]?.outbox?.code != nil }
        let host = try await opened(#""name": "shop", "#, away: 0)
        #expect(host.report["a"]?.warnings == [])
        try await other.analytics("a").track("Seen")
        await other.close()
        await host.open()
        #expect(host.report["a"]?.warnings.map { $0.prefix(13) } == ["2 events wait"])
        let next = try await opened(away: 0)
        _ = await next.report { $0["a"]?.outbox?.delivered == 2 }
        await next.close()
        await host.open()
        #expect(host.report["a"]?.warnings == [])
        await host.close()
    }

    @Test func `a search for events elsewhere that hangs delays no host for long, and its warning comes later`()
        async throws
    {
        let test = try TestHost(TestHost.composite("group", "all", leaf("a"), leaf("b")))
        let (found, changed) = (OneShot<Void>(), OneShot<Void>())
        let outbox = HostOutbox(
            test.host.current,
            location: .memory,
            stranded: {
                await found.wait()
                return [StrandedEvents(directory: "/elsewhere", counts: ["group/a": 2, "old": 1], usesServers: false)]
            },
            ticks: test.clock,
            dependencies: test.host.dependencies,
            onChange: { changed.send() }
        )
        async let proof: Void = outbox.prove(on: nil, within: .seconds(1))
        await test.clock.advance(toTimerAfter: .seconds(1))
        await proof
        func warnings(of path: String) -> [String]? {
            outbox.report(on: test.host.current.tree)[path]?.warnings.map { String($0.prefix(13)) }
        }
        #expect(warnings(of: "group/a") == [] && warnings(of: "group/b") == [])
        found.send()
        await changed.wait()
        // Each connector is warned of its own events, and all of those of a connector that is not in the file.
        #expect(warnings(of: "group/a") == ["1 event waits", "2 events wait"])
        #expect(warnings(of: "group/b") == ["1 event waits"])
        await test.host.close()
    }

    @Test func `a damaged file is set aside and named in the report, and the host goes on`() async throws {
        let scratch = ScratchDirectory()
        let state = scratch.path + "/state"
        func host() throws -> ConnectorHost {
            try ConnectorHost.testing(
                "[\(leaf("a"))]",
                plugins: [Fixtures.contract("deliveries")],
                stateDirectory: state
            )
        }
        let first = try host()
        await first.open()
        try await first.analytics("a").track("Seen").delivered()
        await first.close()
        let folder = try #require(scratch.names(in: "/state").first)
        scratch.write(
            Array("this is no database at all, and long enough to be looked at".utf8),
            to: "state/\(folder)/outbox.sqlite"
        )
        let second = try host()
        await second.open()
        try await second.analytics("a").track("Seen").delivered()
        let gate = try #require(second.report["a"])
        #expect(gate.warnings.count == 1)
        #expect(gate.warnings.first?.contains("outbox.sqlite.damaged-") == true)
        #expect(gate.outbox?.delivered == 1)
        #expect(gate.outbox?.perSecond ?? 0 > 0)
        #expect(gate.outbox?.stability?.contains("power failure") == true)
        await second.close()
    }

    @Test func `a receipt of an event that nobody can deliver ends when the host closes`() async throws {
        let test = try TestHost(leaf("a", away: 1_000_000))
        await test.host.open()
        let receipt = try await test.host.analytics("a").track("Seen")
        async let error = #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        _ = await test.host.report { $0["a"]?.outbox?.code != nil }
        await test.host.close()
        #expect(await error?.code == .notOpen)
    }

    @Test(
        arguments: [
            ("place", ["order": ["n": 1]], #"{"n":1}"#),
            ("ship", ["id": "x-1", "count": 3], "x-1 times 3"),
            ("report", ["reading": ["celsius": 20.5]], #"[{"celsius":20.5}]"#),
            ("orders/place", ["order": ["n": 1]], #"{"n":1}"#),
            ("readings/report", ["reading": ["celsius": 20.5]], #"[{"celsius":20.5}]"#),
        ] as [(String, JSONObject, String)]
    )
    func `events of a user's own capability are delivered, with and without batches`(
        _ operation: String,
        _ arguments: JSONObject,
        _ arrived: String
    ) async throws {
        let test = try TestHost(leaf("a"))
        await test.host.open()
        let receipt = try await test.host.gate("a").send(operation, arguments)
        #expect(receipt.connectors == ["a"])
        try await receipt.delivered()
        #expect(try await test.call("a", "last").string == arrived)
        await test.host.close()
    }

    @Test func `an event of an operation with the name of its capability has the type of the operation`() async throws {
        let test = try TestHost(leaf("a"))
        await test.host.open()
        try await test.host.gate("a").send("analytics/track", ["event": "Seen", "userId": "u1"]).delivered()
        let last = try await test.call("a", "last")
        #expect(try JSONValue(parsing: #require(last.string)).array?.first?["type"] == "track")
        await test.host.close()
    }

    @Test(
        arguments: [["id": "x"], ["id": "x", "count": "three"], ["id": "x", "count": 1, "weight": 2]] as [JSONObject]
    )
    func `arguments that the operation does not take are refused and not stored`(_ arguments: JSONObject) async throws {
        let test = try TestHost(leaf("a"))
        await test.host.open()
        let error = await #expect(throws: ConnectorError.self) {
            try await test.host.gate("a").send("ship", arguments)
        }
        #expect(error?.code == .invalid)
        #expect(error?.fix?.contains("(id: string, count: i32)") == true)
        #expect(test.host.outbox(of: "a") == nil)
        await test.host.close()
    }

    @Test func `an event for a composite whose connectors are all disabled is refused with that reason`() async throws {
        let disabled = TestHost.leaf("a", plugin: "deliveries", settings: #""enabled": false"#)
        let test = try TestHost(TestHost.composite("vendors", "first", disabled))
        let error = await #expect(throws: ConnectorError.self) {
            try await test.host.gate("vendors").send("track", ["event": "Seen"])
        }
        #expect(error?.code == .unsupported && error?.connector == "vendors")
        #expect(error?.message.contains("every connector below is disabled") == true, "\(error?.message ?? "")")
        #expect(error?.fix?.contains(#""enabled": true"#) == true)
        await test.host.close()
    }

    @Test func `an operation that its manifest does not mark as delivered is not sent`() async throws {
        let test = try TestHost(TestHost.leaf("a", plugin: "deliveries"))
        let error = await #expect(throws: ConnectorError.self) { try await test.host.gate("a").send("last") }
        #expect(error?.code == .unsupported)
        #expect(error?.fix?.contains("\"delivered\": true") == true)
    }
}
