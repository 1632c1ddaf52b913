// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorHostTesting
import ConnectorManifest
import ConnectorServices
import ConnectorTestSupport
import Testing

@testable import ConnectorControl
@testable import ConnectorHost

/// The description of the API names every member of the documents.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the fixtures are not built for a sanitizer"))
struct ControlSchemaTests: ControlTests {
    /// Where an answer breaks the description of its endpoint, or has a member that the description does not name.
    private func faults(in response: ServerResponse, of endpoint: ControlEndpoint) throws -> [String] {
        guard let answer = endpoint.answers.first(where: { $0.status == response.status }) else {
            return ["\(endpoint.path): the status \(response.status)"]
        }
        guard response.fields["Content-Type"] == ServerResponse.json else { return [] }
        let document = try JSONValue(parsing: response.bytes)
        return try SchemaCheck(schema: answer.schema, isClosed: true).faults(in: document)
            .map { "\(endpoint.path)\($0)" }
    }

    @Test func `a host at work answers nothing that the description does not name`() async throws {
        let host = try ConnectorHost.testing(
            #"""
            [{"name": "group", "policy": "all", "connectors": [
                {"name": "events", "plugin": "deliveries"},
                {"name": "bad", "plugin": "calls", "required": false, "heal": "off", "config": {"opens": "busy"}}]},
             {"name": "calls", "plugin": "calls", "breaker": {"failures": 3}}]
            """#,
            plugins: [Fixtures.contract("calls"), Fixtures.contract("deliveries")]
        )
        await host.open()
        let gate = try host.gate("group/events")
        let dead = try await gate.send("place", ["order": ["refuse"]])
        while try await host.outboxStatistics()["group/events"]?.dead != 1 { try await Task.checkedYield() }
        try await host.close("group/events")
        _ = try await gate.send("track", ["event": "Seen", "userId": "u1"])
        let api = ControlAPI(host)
        func check(_ operation: String, _ response: ServerResponse) throws {
            let endpoint = try #require(api.endpoints.first { $0.operation == operation })
            #expect(try faults(in: response, of: endpoint) == [])
        }
        for endpoint in api.endpoints where endpoint.method == .get && endpoint.segments.isEmpty {
            try check(endpoint.operation, await api.respond("GET", endpoint.path))
        }
        let shown = await api.respond("GET", "/api/v1/outbox/\(dead.id)")
        try check("event", shown)
        let records = try #require(OutboxDocument.event(json: try JSONValue(parsing: shown.bytes)))
        let explained = OutboxDocument.event(records, showsPayload: false)
        let schema = SchemaCheck(schema: ControlSchemas.outboxEvent, isClosed: true)
        #expect(try schema.faults(in: explained) == [])
        await host.close()
    }

    // MARK: The report

    private let time = Timestamp(nanoseconds: 1_800_000_000_000_000_000)

    /// An error with every member.
    private var failure: ConnectorError {
        var error = ConnectorError(
            .partial,
            "one leaf failed",
            fix: "mend it",
            connector: "a",
            position: FilePosition(file: "connectors.json", line: 1, column: 2),
            cause: "the vendor's words",
            isRetryable: true,
            retryAfter: .seconds(1)
        )
        error.outcomes = [CallOutcome("a/b", error: ConnectorError(.failed, "no")), CallOutcome("a/c")]
        return error
    }

    /// The properties of a value that hold nothing.
    private func unset(in value: Any) -> Set<String> {
        let names = Mirror(reflecting: value).children.compactMap { child -> String? in
            let mirror = Mirror(reflecting: child.value)
            let isEmpty =
                switch mirror.displayStyle {
                case .optional?, .collection?, .dictionary?: mirror.children.isEmpty
                default: false
                }
            let isFalse = child.value as? Bool == false
            let isZero = child.value as? Int == 0 || child.value as? UInt64 == 0
            return isEmpty || isFalse || isZero ? child.label : nil
        }
        return Set(names)
    }

    @Test func `the description names every member that a report can have`() async throws {
        let host = try ConnectorHost.testing(
            #"[{"name": "a", "plugin": "sync"}]"#,
            plugins: [Fixtures.good("sync")]
        )
        var gate = try #require(host.report["a"])
        gate.plugin?.isLinked = true
        gate.places = ["b"]
        gate.isSimulated = true
        gate.isReady = true
        gate.attempts = 2
        gate.evidence = [Evidence(kind: .reachable, detail: "seen", at: time, duration: .milliseconds(1))]
        gate.openDuration = .milliseconds(2)
        gate.nextAttemptAt = time
        gate.error = failure
        gate.capabilities = ["sync/1": ["add"]]
        var http = HTTPCounters()
        (http.requests, http.failures, http.cached) = (1, 2, 3)
        (http.bytesSent, http.bytesReceived, http.lastStatus) = (4, 5, 200)
        gate.http = http
        gate.misbehaviourCount = 1
        let differences = Differences(compared: 1, different: 2, skipped: 3, last: "other")
        gate.differences = differences
        let child = CanaryReport.Child(path: "a/b", calls: 1, failures: 2, mean: .milliseconds(3))
        let canary = CanaryReport(share: 5, withdrawal: "it failed", first: child, second: child)
        gate.canary = canary
        let outbox = OutboxReport(
            queued: 1,
            bytes: 2,
            oldest: time,
            dead: 3,
            delivered: 4,
            dropped: 5,
            lastDelivered: time,
            perSecond: 0.5,
            stability: "durable",
            failure: "the vendor is away",
            code: .unavailable,
            nextAttemptAt: time
        )
        gate.outbox = outbox
        let calls = CallCounters(total: 2, failures: 1, lastFailure: failure)
        gate.calls = calls
        gate.warnings = ["it is late"]
        gate.uses = ["store": "b"]
        let secret = SecretReport(
            field: "key",
            source: "env:KEY",
            changedAt: time,
            isInUse: true,
            isProved: true,
            error: "it is not set"
        )
        gate.secrets = [secret]
        gate.isolation = .process
        let promotion = Promotion(reason: "it crashed", at: time, until: time)
        gate.promotion = promotion
        gate.sandbox = "sandbox: off"
        gate.crashCount = 1
        let standby = StandbyReport(state: .ready, process: 1, takeovers: 2, error: failure)
        gate.standby = standby
        let breaker = BreakerReport(state: .open, failures: 1, openings: 2, refusals: 3, nextTrialAt: time)
        gate.breaker = breaker
        gate.generation = 1
        gate.isOnTrial = true
        gate.drainingCount = 1
        // A new property belongs here, and its member into the description; the last one is no member.
        #expect(unset(in: gate) == ["policy", "quorum", "hostHasClosed"])
        let parts: [Any] = [
            http, differences, child, canary, outbox, calls, secret, promotion, standby, breaker,
        ]
        for part in parts { #expect(unset(in: part).isEmpty, "\(type(of: part))") }

        var composite = GateReport(path: "group", state: .degraded, error: failure)
        composite.policy = "all"
        composite.quorum = 1
        var report = Report(gates: [gate, composite], state: .degraded, outboxError: failure)
        var configuration = ConfigurationReport(digest: "ab", since: time, errors: [failure])
        configuration.watching = FileWatching(hasEvents: true, reason: "the system has no more")
        report.configuration = configuration
        let images = try #require(
            ImagesReport(json: ["count": 1, "bytes": 2, "staticTLS": ["count": 3, "bytes": 4, "limit": 5]])
        )
        report.images = images
        let runner = RunnerReport(
            name: "r",
            process: 1,
            memory: 2,
            restarts: 3,
            connectors: ["a"],
            standbys: ["b"]
        )
        report.runners = [runner]
        for part in [report, configuration, images, runner] as [Any] {
            #expect(unset(in: part).isEmpty, "\(type(of: part))")
        }
        #expect(try SchemaCheck(schema: ControlSchemas.status, isClosed: true).faults(in: report.json) == [])
    }
}
