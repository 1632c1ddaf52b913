// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// What is sent again is the same event, so that no vendor counts it twice.
@Suite(.timeLimit(.minutes(10))) struct DeliveryTests {
    private let direct = #""probe": "off", "delivery": "direct""#

    private func opened() async throws -> TestHost {
        let test = try TestHost(
            TestHost.composite(
                "vendors",
                "all",
                TestHost.leaf("a", plugin: "deliveries", settings: direct),
                TestHost.leaf("b", plugin: "deliveries", ["away": 1], settings: direct)
            )
        )
        await test.host.open()
        return test
    }

    /// What arrived last at a vendor, on the wire.
    private func last(_ test: TestHost, _ path: String) async throws -> JSONValue {
        let text = try await test.call(path, "last")
        return try JSONValue(parsing: #require(text.string))
    }

    @Test func `a stamped event is the same on the wire however often and whenever it is sent`() async throws {
        let test = try await opened()
        let analytics = try test.host.analytics("vendors")
        analytics.userId = "ada"
        let event = analytics.stamped(.track("Order Completed", ["total": 42.5]))
        let error = try await failure { () throws(ConnectorError) in try await analytics.send(event) }
        #expect(error.code == .partial)
        #expect(error.outcomes.map(\.isSuccess) == [true, false])
        let first = try await last(test, "vendors/a")
        #expect(first["messageId"]?.string == event.messageId)
        #expect(first["userId"] == "ada")
        #expect(first["timestamp"] == "2026-01-01T00:00:00.000Z")
        analytics.userId = "grace"
        test.clock.advance(by: .seconds(60))
        #expect(try await analytics.send(event).outcomes.allSatisfy(\.isSuccess))
        #expect(try await last(test, "vendors/a") == first)
        #expect(try await last(test, "vendors/b") == first)
    }

    @Test func `an event of a cancelled task goes to no vendor directly, and to the others through the outbox`()
        async throws
    {
        let queued = #""probe": "off", "outbox": {"batch": {"count": 1}}"#
        let test = try TestHost(
            TestHost.composite(
                "vendors",
                "all",
                TestHost.leaf("a", plugin: "deliveries", settings: direct),
                TestHost.leaf("b", plugin: "deliveries", settings: queued)
            )
        )
        await test.host.open()
        let analytics = try test.host.analytics("vendors")
        try await analytics.track("First")
        let receipt = try await afterCancellation { try await analytics.track("Second") }
        #expect(receipt.connectors == ["vendors/b"])
        try await receipt.delivered()
        #expect(receipt.outcomes.map(\.error?.code) == [.cancelled])
        #expect(receipt.outcomes.map(\.error?.sending) == [.no])
        let alone = try test.host.analytics("vendors/a")
        let error = try await afterCancellation {
            try await failure { () throws(ConnectorError) in try await alone.track("Third") }
        }
        #expect(error.isCancellation && error.sending == .no)
        #expect(try await last(test, "vendors/a")["event"] == "First")
        await test.host.close()
    }

    @Test func `two tracked events each have a time and an id of their own`() async throws {
        let test = try await opened()
        let analytics = try test.host.analytics("vendors/a")
        #expect(try await analytics.track("Seen").outcomes.map(\.connector) == ["vendors/a"])
        let first = try await last(test, "vendors/a")
        test.clock.advance(by: .seconds(60))
        try await analytics.track("Seen")
        let second = try await last(test, "vendors/a")
        #expect(first["messageId"] != second["messageId"])
        #expect(first["timestamp"] == "2026-01-01T00:00:00.000Z")
        #expect(second["timestamp"] == "2026-01-01T00:01:00.000Z")
        #expect(second["anonymousId"]?.string == analytics.anonymousId)
    }

    @Test func `a time that is given arrives to the nanosecond, and one that is added has milliseconds`() async throws {
        let test = try await opened()
        let analytics = try test.host.analytics("vendors/a")
        test.clock.advance(by: .nanoseconds(123_456_789))
        try await analytics.track("Seen")
        #expect(try await last(test, "vendors/a")["timestamp"] == "2026-01-01T00:00:00.123Z")
        var event = AnalyticsEvent.track("Seen", anonymousId: "device")
        event.timestamp = Timestamp(parsing: "2026-01-01T00:00:00.123456789Z")
        try await analytics.send(event)
        #expect(try await last(test, "vendors/a")["timestamp"] == "2026-01-01T00:00:00.123456789Z")
    }

    @Test func `stamping an event does not overwrite what it already says`() async throws {
        let test = try await opened()
        let analytics = try test.host.analytics("vendors")
        var event = AnalyticsEvent.track("Seen", anonymousId: "device")
        event.timestamp = Timestamp(nanoseconds: 0)
        analytics.userId = "ada"
        #expect(analytics.stamped(event) == event)
    }

    @Test func `an event of a batch is accepted once every required child has accepted it`() async throws {
        let test = try await opened()
        let analytics = try test.host.analytics("vendors")
        let event = analytics.stamped(.track("Seen"))
        let first = try #require(try await analytics.deliver([event]).first)
        #expect(first.outcome == .retry)
        #expect(first.reason == "vendors/b: the vendor is away")
        #expect(first.retryAfter == .seconds(2))
        #expect(try await analytics.deliver([event]).map(\.outcome) == [.accepted])
        let error = try await failure { () throws(ConnectorError) in try await analytics.deliver([]) }
        #expect(error.code == .misbehaved, "the fixture answers for one event, whatever the batch")
    }

    @Test func `an event of a batch that adapters could not read is rejected by itself, and the others are delivered`()
        async throws
    {
        let test = try await opened()
        let analytics = try test.host.analytics("vendors/a")
        let broken = analytics.stamped(.track("Seen", ["share": .number(.nan)]))
        let deep = (0..<600).reduce(JSONObject()) { inner, _ in ["a": .object(inner)] }
        let nested = analytics.stamped(.track("Seen", deep))
        let event = analytics.stamped(.track("Seen"))
        // The fixture answers for one event, so that it would misbehave if it got more.
        let answers = try await analytics.deliver([broken, event, nested])
        #expect(answers.map(\.outcome) == [.rejected, .accepted, .rejected])
        #expect(answers.map(\.code) == [.invalid, nil, .invalid])
        #expect(answers[0].reason == "events[0].properties has the number nan, which JSON cannot write")
        #expect(answers[2].reason?.hasPrefix("events[2].properties makes the event nest deeper") == true)
        let arrived = try await last(test, "vendors/a").array ?? []
        #expect(arrived.map { $0["messageId"]?.string } == [event.messageId])
        #expect(try await analytics.deliver([broken, nested]).map(\.outcome) == [.rejected, .rejected])
        let empty = CrashReport(level: .error)
        let refused = try await test.host.crash("vendors/a").deliver([empty])
        #expect(refused.map(\.reason) == ["reports[0].exceptions or reports[0].message must be given"])
        await test.host.close()
    }

    @Test func `an optional child does not keep an event of a batch from being accepted`() async throws {
        let optional = TestHost.leaf(
            "b",
            plugin: "deliveries",
            ["away": 1],
            settings: #""probe": "off", "delivery": "direct", "required": false"#
        )
        let test = try TestHost(
            TestHost.composite("vendors", "all", TestHost.leaf("a", plugin: "deliveries", settings: direct), optional)
        )
        await test.host.open()
        let analytics = try test.host.analytics("vendors")
        #expect(try await analytics.deliver([analytics.stamped(.track("Seen"))]).map(\.outcome) == [.accepted])
    }

    @Test(
        arguments: [
            ([.unsent(""), .unsent("")], .zero, .timedOut),
            ([.unsent(""), .retry("away")], nil, .unavailable),
            ([.unsent(""), .retry("slow down", after: .seconds(3), code: .rateLimited)], .seconds(3), .rateLimited),
            ([.rejected(""), .unsent("")], .zero, .timedOut),
        ] as [([DeliveryAnswer], Duration?, ConnectorError.Code)]
    )
    func `an event of a batch is sent at once only if no child has failed to deliver it`(
        _ answers: [DeliveryAnswer],
        _ wait: Duration?,
        _ code: ConnectorError.Code
    ) throws {
        let children = zip(["a", "b"], answers).map { path, answer in
            let result = CallResult(outputs: [("", .json, .bytes(DeliveryAnswer.text(of: [answer])))], gate: path)
            let outcome = ConnectorAnswer.Outcome.success(ConnectorAnswer(result, redactor: Redactor([])))
            return (path: path, outcome: outcome)
        }
        let first = try children[0].outcome.get()
        let merged = ConnectorAnswer(first, children: children, requirement: (.all(quorum: 1), [false, false]))
        let answer = try #require(try merged.deliveries(count: 1).first)
        #expect(answer.outcome == .retry && answer.retryAfter == wait && answer.code == code)
    }

    @Test func `a crash report that is sent again has the same id`() async throws {
        let test = try await opened()
        let crash = try test.host.crash("vendors")
        let report = CrashReport(of: ConnectorError(.failed, "out of stock"), tags: ["article": "milk"])
        let error = try await failure { () throws(ConnectorError) in try await crash.send(report) }
        #expect(error.code == .partial)
        #expect(try await crash.send(report).outcomes.map(\.connector) == ["vendors/a", "vendors/b"])
        for path in ["vendors/a", "vendors/b"] {
            #expect(try await last(test, path)["id"]?.string == report.id)
            #expect(try await last(test, path)["tags"] == ["article": "milk"])
        }
        #expect(try await crash.exception(report).id == report.id)
    }

    private let queued = #""probe": "off", "outbox": {"batch": {"count": 1}}"#

    @Test(arguments: [true, false])
    func `a crash report has the time at which it was sent, not that of its delivery`(_ isTyped: Bool) async throws {
        let test = try TestHost(TestHost.leaf("vendor", plugin: "deliveries", settings: queued))
        let report = CrashReport(of: ConnectorError(.failed, "out of stock"))
        if isTyped {
            try await test.host.crash("vendor").send(report)
        } else {
            try await test.host.gate("vendor").send("exception", ["report": report.json])
        }
        test.clock.advance(by: .seconds(3600))
        await test.host.open()
        while test.host.outbox(of: "vendor")?.delivered != 1 { try await Task.checkedYield() }
        #expect(try await last(test, "vendor")["timestamp"] == "2026-01-01T00:00:00.000Z")
        await test.host.close()
    }

    @Test func `a crash report that adapters would refuse is refused before it is stored`() async throws {
        let test = try TestHost(TestHost.leaf("vendor", plugin: "deliveries", settings: queued))
        let crash = try test.host.crash("vendor")
        var misnamed = CrashReport(level: .error, message: "broken")
        misnamed.id = "order-17"
        for report in [CrashReport(level: .error), CrashReport(level: .info, message: ""), misnamed] {
            let error = try await failure { () throws(ConnectorError) in try await crash.send(report) }
            #expect(error.code == .invalid)
        }
        let message = CrashReport(level: .error, message: "no exception")
        let typed = try await failure { () throws(ConnectorError) in try await crash.exception(message) }
        #expect(typed.code == .invalid)
        let named = try await failure { () throws(ConnectorError) in
            try await test.host.gate("vendor").send("exception", ["report": message.json])
        }
        #expect(named.code == .invalid)
        #expect(test.host.outbox(of: "vendor") == nil)
        await test.host.close()
    }

    @Test func `an event that adapters could not read is refused before it is stored`() async throws {
        let test = try TestHost(TestHost.leaf("vendor", plugin: "deliveries", settings: queued))
        let analytics = try test.host.analytics("vendor")
        var event = analytics.stamped(.track("Seen"))
        event.timestamp = Timestamp(nanoseconds: .max)
        let late = event
        let error = try await failure { () throws(ConnectorError) in try await analytics.send(late) }
        #expect(error.code == .invalid)
        let deep = (0..<300).reduce(JSONObject()) { inner, _ in ["a": .object(inner)] }
        let nested = try await failure { () throws(ConnectorError) in try await analytics.track("Seen", deep) }
        #expect(nested.code == .invalid)
        let infinite = try await failure { () throws(ConnectorError) in
            try await analytics.track("Seen", ["share": .number(.nan)])
        }
        #expect(infinite.message == "event.properties has the number nan, which JSON cannot write")
        for error in [error, nested, infinite] { #expect(error.connector == "vendor") }
        #expect(test.host.outbox(of: "vendor") == nil)
        await test.host.close()
    }

    @Test func `an event that the plugin takes neither alone nor in batches is refused before it is stored`()
        async throws
    {
        let leaf = TestHost.leaf("vendor", plugin: "deliveries", settings: queued)
        let test = try TestHost(leaf, TestHost.composite("vendors", "first", leaf))
        for path in ["vendor", "vendors"] {
            let crash = try test.host.crash(path)
            let error = try await failure { () throws(ConnectorError) in try await crash.message("out of stock") }
            #expect(error.code == .unsupported && error.connector == path)
            #expect(test.host.outbox(of: path) == nil)
            // The plugin has no such operation either, but takes batches of analytics.
            try await test.host.analytics(path).screen("Cart")
            #expect(test.host.outbox(of: path)?.queued == 1)
        }
        await test.host.close()
    }

    @Test func `an event is what was given for the only parameter, and a line is the event itself`() async throws {
        let test = try TestHost(TestHost.leaf("orders", plugin: "deliveries", settings: #""probe": "off""#))
        let orders = try test.host.gate("orders")
        for order in [[1], "text", ["number": 2]] as [JSONValue] {
            #expect(try orders.checked("place", ["order": order]).payload == order)
        }
        #expect(try orders.checked("place", ["number": 2]).payload == ["number": 2])
        for event in [["order": ["number": 2]], ["order": 1], [:]] as [JSONObject] {
            #expect(try orders.checked("place", event: event).payload == .object(event))
        }
        await test.host.close()
    }

    @Test func `an error about what the caller gave names the connector, and what was probably meant`() async throws {
        let test = try TestHost(TestHost.leaf("orders", plugin: "deliveries", settings: #""probe": "off""#))
        let orders = try test.host.gate("orders")
        let unknown = try await failure { () throws(ConnectorError) in try await orders.send("plcae") }
        #expect(unknown.code == .unsupported && unknown.fix == #"did you mean "place"?"#)
        let wrong = try await failure { () throws(ConnectorError) in
            try await orders.send("place", ["order": .number(.infinity)])
        }
        #expect(wrong.code == .invalid)
        let event = try await failure { () throws(ConnectorError) in
            try await orders.send("track", ["event": ["event": 1]])
        }
        #expect(event.code == .invalid)
        let unencodable = try await failure { () throws(ConnectorError) in
            try await test.host.analytics("orders").track("Seen", properties: [Double.nan])
        }
        #expect(unencodable.code == .invalid)
        let misnamed = try await failure { () throws(ConnectorError) in
            try orders.typed("plcae", "(a: i64) -> i64", as: OperationFunction.Integers1.self)
        }
        #expect(misnamed.fix == #"did you mean "place"?"#)
        for error in [unknown, wrong, event, unencodable, misnamed] { #expect(error.connector == "orders", "\(error)") }
        await test.host.close()
    }

    @Test func `a connector whose plugin was not found has a client, and its events are stored`() async throws {
        let test = try TestHost(#"{"name": "vendor", "plugin": "/nowhere/libmissing.so", "heal": "off"}"#)
        let analytics = try test.host.analytics("vendor")
        #expect(await test.host.open()["vendor"]?.state == .failed)
        #expect(try await analytics.track("Seen").connectors == ["vendor"])
        #expect(test.host.outbox(of: "vendor")?.queued == 1)
        let call = try await failure { () throws(ConnectorError) in
            try await test.host.geocoder("vendor").geocode("x")
        }
        #expect(call.code == .notOpen)
        #expect(call.cause?.contains("libmissing.so") == true)
        let event = try await failure { () throws(ConnectorError) in
            try await test.host.gate("vendor").send("track", ["event": "Seen"])
        }
        #expect(event.code == .notFound)
        #expect(event.connector == "vendor")
        await test.host.close()
    }
}
