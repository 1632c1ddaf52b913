// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorServices

@testable import ConnectorConsole
@testable import ConnectorHost
@testable import ConnectorOutbox

/// What a host could say, made up.
enum Mock {
    /// The moment of every snapshot.
    static let now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)

    /// A moment so many seconds before.
    static func ago(_ seconds: UInt64) -> Timestamp {
        Timestamp(nanoseconds: now.nanoseconds - seconds * 1_000_000_000)
    }

    /// A connector.
    static func gate(
        _ path: String,
        _ state: GateState = .open,
        policy: String? = nil,
        error: ConnectorError? = nil,
        outbox: OutboxReport? = nil
    ) -> GateReport {
        var gate = GateReport(
            path: path,
            state: state,
            target: .open,
            evidence: policy == nil && state == .open
                ? [
                    Evidence(
                        kind: .authenticated,
                        detail: "the key was accepted",
                        at: ago(5),
                        duration: .milliseconds(3)
                    )
                ]
                : [],
            attempts: 1,
            capabilities: [:],
            misbehaviourCount: 0
        )
        gate.isReady = state == .open
        gate.policy = policy
        gate.error = error
        gate.outbox = outbox
        return gate
    }

    /// An outbox in some state.
    static func outbox(queued: Int = 0, dead: Int = 0, failure: String? = nil) -> OutboxReport {
        OutboxReport(
            queued: queued,
            bytes: queued * 100,
            oldest: queued > 0 ? ago(90) : nil,
            dead: dead,
            delivered: 7,
            dropped: 0,
            lastDelivered: ago(3),
            perSecond: 0,
            failure: failure
        )
    }

    /// Two connectors below a composite, one of which has failed.
    static let report = Report(
        gates: [
            gate("analytics", .degraded, policy: "all"),
            gate("analytics/segment", outbox: outbox(queued: 2, dead: 1, failure: "the vendor is away")),
            gate(
                "analytics/posthog",
                .failed,
                error: ConnectorError(.unauthorized, "the key was refused", fix: "give it another", cause: "HTTP 401")
            ),
        ],
        state: .degraded
    )

    /// An event of the outbox.
    static func record(_ id: String, _ state: OutboxRecord.State, at path: String = "analytics/segment")
        -> OutboxRecord
    {
        OutboxRecord(
            path: path,
            event: OutboxEvent(
                id: id,
                kind: EventKind("analytics/1", "track"),
                createdAt: ago(60),
                payload: Array(#"{"event":"Seen","userId":"u1"}"#.utf8)
            ),
            state: state,
            due: nil,
            attempts: [
                PastAttempt(
                    at: ago(50),
                    until: ago(40),
                    count: 3,
                    failure: DeliveryFailure(.invalid, "bad \u{1B}[31mevent")
                )
            ]
        )
    }

    /// What the host says, looked up for some routes.
    static func snapshot(_ routes: Route...) -> ConsoleSnapshot {
        var snapshot = ConsoleSnapshot(time: now, report: report)
        snapshot.routes = Set(routes)
        snapshot.records = [
            .outbox: RecordPage([record("m1", .queued), record("m2", .queued)]),
            .dead: RecordPage([record("m3", .dead)]),
        ]
        snapshot.found = [record("m3", .dead), record("m3", .delivered, at: "analytics/posthog")]
        snapshot.events = [
            ConnectorEvent(connector: "analytics/segment", name: "limit", payload: ["left": 3], time: ago(9), missed: 0)
        ]
        let manifest = try? Manifest(
            parsing: Array(
                #"""
                {"manifest": 1, "id": "segment", "version": "1.0.0", "abi": [1, 1], "entry": "e",
                 "documentation": "Sends events.",
                 "capabilities": {"analytics/1": {"track": {"symbol": "t", "signature": "(event: json) async"}}}}
                """#.utf8
            ),
            file: ""
        )
        snapshot.plugins = [
            PluginSummary(path: "/p/libsegment.so", manifest: manifest, problem: nil),
            PluginSummary(path: "/p/libbroken.so", manifest: nil, problem: "it has no manifest"),
        ]
        if let capabilities = manifest?.capabilities { snapshot.capabilities["analytics/segment"] = capabilities }
        snapshot.configuration = try? Configuration(
            parsing:
                #"{"version": 1, "connectors": [{"name": "segment", "plugin": "segment", "config": {"writeKey": "TOPSECRET"}}]}"#
        )
        return snapshot
    }

    /// The scene of a route.
    static func scene(_ route: Route) -> Scene { ConsoleRegistry.standard.scene(for: route, of: snapshot(route)) }
}
