// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost

/// The breaker in front of a gate, as callers see it.
@Suite(.timeLimit(.minutes(5))) struct GateBreakerTests {
    private static let settings =
        #""probe": "off", "breaker": {"failures": 2, "window": "1m", "probe": "10s"}"#
    /// CONNECTOR_UNAVAILABLE of error.h.
    private static let unavailable: JSONObject = ["status": 8]

    private func refuse(_ test: TestHost, _ path: String = "gate") async throws {
        let error = try await failure { () throws(ConnectorError) in
            try await test.call(path, "refuse", Self.unavailable)
        }
        #expect(error.code == .unavailable)
    }

    @Test func `failing calls open the breaker, and the report, the metrics and the next calls say so`() async throws {
        let test = try TestHost(TestHost.leaf("gate", settings: Self.settings))
        await test.host.open()
        #expect(try test.gate("gate").breaker == BreakerReport(state: .closed))
        for _ in 0..<2 { try await refuse(test) }
        let error = try await failure { () throws(ConnectorError) in try await test.call("gate", "answer", ["value": 1])
        }
        #expect(error.code == .notOpen && error.connector == "gate" && error.message.contains("circuit breaker"))
        let report = try test.gate("gate")
        #expect(report.breaker?.state == .open && report.breaker?.refusals == 1)
        #expect(report.state == .degraded && !report.isReady && report.error?.message.contains("breaker") == true)
        let metrics = test.host.metrics.filter { $0.definition.name.hasPrefix("connector.breaker") }
        #expect(metrics.map(\.definition) == [.breakerOpen, .breakerOpenings, .breakerRefusals])
        test.clock.advance(by: .seconds(10))
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        #expect(try test.gate("gate").state == .open)
        await test.host.close()
    }

    @Test func `an operator's retry lets the next call through`() async throws {
        let test = try TestHost(TestHost.leaf("gate", settings: Self.settings))
        await test.host.open()
        for _ in 0..<2 { try await refuse(test) }
        #expect(try test.gate("gate").breaker?.state == .open)
        #expect(try await test.host.retry("gate")["gate"]?.breaker?.state == .halfOpen)
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        #expect(try test.gate("gate").breaker?.state == .closed)
        await test.host.close()
    }

    @Test func `results that are not JSON open the breaker`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["replies": "nonsense"], settings: Self.settings))
        await test.host.open()
        for _ in 0..<2 {
            let error = try await failure { () throws(ConnectorError) in
                try await test.call("gate", "answer", ["value": 1])
            }
            #expect(error.code == .misbehaved && error.connector == "gate")
        }
        #expect(try test.gate("gate").breaker?.state == .open)
        #expect(try test.gate("gate").misbehaviourCount == 2)
        await test.host.close()
    }

    @Test func `a composite with the policy first skips a child whose breaker is open`() async throws {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "first",
                TestHost.leaf("a", ["replies": #""a""#], settings: #""probe": "off""#),
                TestHost.leaf("b", ["replies": #""b""#], settings: #""probe": "off""#),
                settings: #""breaker": {"failures": 2, "probe": "10s"}"#
            )
        )
        await test.host.open()
        #expect(try await test.call("group", "answer", ["value": 1]) == "a")
        for _ in 0..<2 { try await refuse(test, "group/a") }
        #expect(try await test.call("group", "answer", ["value": 1]) == "b")
        #expect(try test.gate("group").isReady)
        // It was not asked, so nothing was refused.
        #expect(try test.gate("group/a").breaker?.refusals == 0)
        test.clock.advance(by: .seconds(10))
        #expect(try await test.call("group", "answer", ["value": 1]) == "a")
        await test.host.close()
    }
}
