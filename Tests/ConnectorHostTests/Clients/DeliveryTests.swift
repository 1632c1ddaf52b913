// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
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

    @Test func `two events that are tracked are two, with a time and an id of their own`() async throws {
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

    @Test func `what an event says itself is not stamped over`() async throws {
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
}
