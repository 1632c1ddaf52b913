// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorPlatform
import Testing

@testable import ConnectorHost
@testable import ConnectorOutbox

/// Composites whose children take events in different ways: one by one, in batches, or only those of some operations.
@Suite(.timeLimit(.minutes(5))) struct MixedDeliveryTests {
    /// Functions of a plugin that accept one event, and a batch of one.
    private static let code = """
        CONNECTOR_EXPORT int32_t swapped_track(void *instance, const connector_call *call, const char *json,
                                               uint64_t length, connector_error *error) {
            const fixture *self = instance;
            (void)json; (void)length; (void)error;
            return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, NULL, 0, NULL);
        }
        CONNECTOR_EXPORT int32_t swapped_deliver(void *instance, const connector_call *call, const char *json,
                                                 uint64_t length, connector_error *error) {
            static const char answer[] = "[{\\"outcome\\":\\"accepted\\"}]";
            const fixture *self = instance;
            (void)json; (void)length; (void)error;
            return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)answer,
                                        sizeof answer - 1, NULL);
        }
        """
    private static let track = #""track": {"symbol": "swapped_track", "signature": "(event: json) async"}"#
    private static let identify = #""identify": {"symbol": "swapped_track", "signature": "(event: json) async"}"#
    private static let deliver =
        #""deliver": {"symbol": "swapped_deliver", "signature": "(events: json) async -> json"}"#

    /// A host with a composite of a plugin that has the given operations, `other`, and one that takes what the users did, alone or in
    /// batches, `batches`.
    private func host(
        _ operations: String...,
        below vendors: (_ other: String, _ batches: String) -> String
    ) async throws -> (host: ConnectorHost, workspace: ImageWorkspace) {
        let workspace = ImageWorkspace()
        let capability = #", "analytics/1": {\#(operations.joined(separator: ", "))}"#
        try workspace.install(ImageWorkspace.Variant(code: Self.code, capabilities: capability))
        let other = #"{"name": "other", "plugin": "swapped", "probe": "off", "heal": "off"}"#
        let batches = TestHost.leaf("batches", plugin: Fixtures.contract("deliveries"))
        workspace.directory.write(
            Array(#"{"version": 1, "plugins": ["plugins"], "connectors": [\#(vendors(other, batches))]}"#.utf8),
            to: "connectors.json"
        )
        return (try await workspace.host(), workspace)
    }

    /// Events of operations of `analytics/1`.
    private func events(_ operations: String...) -> [OutboxEvent] {
        operations.enumerated().map { number, operation in
            OutboxEvent(
                id: "event-\(number)",
                kind: EventKind("analytics/1", operation),
                createdAt: Timestamp(nanoseconds: 1_767_225_600_000_000_000),
                payload: Array(#"{"type":"\#(operation)"}"#.utf8)
            )
        }
    }

    @Test(arguments: [("first", 0), ("all", 1)] as [(String, UInt64)])
    func `a child that takes no batches gets its events beside one that does`(_ policy: String, others: UInt64)
        async throws
    {
        let (host, workspace) = try await host(Self.track) { other, batches in
            // An `all` of its own would have a queue for each child.
            TestHost.composite("vendors", "first", TestHost.composite("inner", policy, other, batches))
        }
        try await host.analytics("vendors").track("Seen").delivered()
        #expect(host.report["vendors/inner/other"]?.calls?.total == 1)
        #expect(host.report["vendors/inner/batches"]?.calls?.total ?? 0 == others)
        await host.close()
        withExtendedLifetime(workspace) {}
    }

    @Test func `a child that takes events only in batches gets them beside one that also takes them one by one`()
        async throws
    {
        let (host, workspace) = try await host(Self.deliver) { TestHost.composite("vendors", "all", $0, $1) }
        let receipt = try await host.analytics("vendors").track("Seen")
        #expect(receipt.connectors.sorted() == ["vendors/batches", "vendors/other"])
        try await receipt.delivered()
        #expect(host.report["vendors/other"]?.calls?.total == 1)
        #expect(host.report["vendors/batches"]?.calls?.total == 1)
        await host.close()
        withExtendedLifetime(workspace) {}
    }

    @Test func `an event that only a later child of a first takes is not sent to the first one in a batch`()
        async throws
    {
        let (host, workspace) = try await host(Self.track, Self.identify, Self.deliver) { other, batches in
            TestHost.composite("vendors", "first", batches, other)
        }
        let node = try host.current.node("vendors").node
        let sent = events("track", "identify", "track")
        let answers = try await node.deliver(OutboxBatch(events: sent)).get()
        #expect(answers.map(\.isUnsent) == [false, true, true])
        #expect(answers[0] == .accepted)
        #expect(host.report["vendors/other"]?.calls?.total ?? 0 == 0)
        #expect(try await node.deliver(OutboxBatch(events: Array(sent[1...]))).get().map(\.isUnsent) == [false, true])
        #expect(host.report["vendors/other"]?.calls?.total == 1)
        #expect(host.report["vendors/batches"]?.calls?.total == 1)
        await host.close()
        withExtendedLifetime(workspace) {}
    }

    @Test func `an event that can only be delivered in a batch leads no other past a child that takes no batches`()
        async throws
    {
        let (host, workspace) = try await host(Self.track) { other, batches in
            TestHost.composite("vendors", "first", TestHost.composite("inner", "all", other, batches))
        }
        let node = try host.current.node("vendors").node
        let answers = try await node.deliver(OutboxBatch(events: events("track", "identify"))).get()
        #expect(answers.map(\.isUnsent) == [false, true])
        #expect(host.report["vendors/inner/other"]?.calls?.total == 1)
        #expect(host.report["vendors/inner/batches"]?.calls?.total == 1)
        await host.close()
        withExtendedLifetime(workspace) {}
    }

    @Test func `a batch that is answered for too few of its events is the plugin's fault`() async throws {
        let (host, workspace) = try await host(Self.track, Self.deliver) { other, _ in
            TestHost.composite("vendors", "first", other)
        }
        let node = try host.current.node("vendors").node
        let result = await node.deliver(OutboxBatch(events: events("track", "track")))
        let error = #expect(throws: ConnectorError.self) { try result.get() }
        #expect(error?.code == .misbehaved && error?.connector == "vendors/other")
        #expect(error?.message.contains("there must be 2 answers") == true)
        // Whoever counts calls must see it, too.
        let report = host.report
        #expect(report["vendors/other"]?.calls?.failures == 1 && report["vendors"]?.calls?.failures == 1)
        #expect(report["vendors/other"]?.calls?.lastFailure?.code == .misbehaved)
        #expect(report["vendors/other"]?.misbehaviourCount == 1)
        await host.close()
        withExtendedLifetime(workspace) {}
    }

    @Test func `while a child is away, the delivery pauses, though the canary takes its own events`() async throws {
        func leaf(_ name: String, away: Int64) -> String {
            TestHost.leaf(name, plugin: "deliveries", ["away": .integer(away)])
        }
        let test = try TestHost(
            TestHost.composite(
                "vendors",
                "canary",
                leaf("old", away: 1_000_000),
                leaf("new", away: 0),
                settings: #""canary": {"share": 50}"#
            )
        )
        await test.host.open()
        let sent = (0..<40).map { number in
            OutboxEvent(
                id: "order-\(number)",
                kind: EventKind("orders/1", "place"),
                createdAt: test.clock.wallTime(),
                payload: Array(#"{"number":\#(number)}"#.utf8)
            )
        }
        _ = try await test.host.outbox.outbox.append(sent, to: ["vendors"])
        let report = await test.host.report { $0["vendors"]?.outbox?.nextAttemptAt != nil }
        let vendors = try #require(report["vendors"])
        #expect(vendors.state == .degraded && vendors.error?.code == .unavailable)
        let outbox = try #require(vendors.outbox)
        #expect(outbox.failure?.contains("the vendor is away") == true)
        #expect(outbox.queued > 0 && outbox.delivered > 0)
        #expect(outbox.queued + outbox.delivered == 40)
        #expect(report["vendors/old"]?.calls?.total == 1, "a call for one event, and none for those after it")
        await test.host.close()
    }

    @Test func `if leaves fail differently, the answer has the code of one whose failure others would share`() {
        var crash = ConnectorError(.crashed, "ended")
        crash.sending = .yes
        let (wrong, away) = (ConnectorError(.invalid, "wrong"), ConnectorError(.unavailable, "away"))
        let late = ConnectorError(.timedOut, "late")
        func code(_ errors: ConnectorError?...) -> ConnectorError.Code? {
            var error = ConnectorError(errors.contains { $0 == nil } ? .partial : .failed, "some fail")
            error.outcomes = errors.map { CallOutcome("leaf", error: $0) }
            let answer = DeliveryAnswer(error)
            #expect(answer.outcome == .retry && !answer.isUnsent)
            return answer.code
        }
        #expect(code() == .failed && code(wrong) == .failed)
        #expect(code(wrong, away) == .unavailable && code(nil, away) == .unavailable)
        #expect(code(away, late) == .timedOut && code(away, late, crash) == .crashed)
        #expect(DeliveryAnswer(crash).code == .crashed)
        crash.sending = .no
        #expect(DeliveryAnswer(crash).code == .unavailable, "its runner had ended before")
    }

    @Test func `a canary gets no event whose operation it lacks, whatever else is delivered with it`() async throws {
        let (host, workspace) = try await host(Self.track, Self.identify, Self.deliver) { other, batches in
            TestHost.composite("vendors", "canary", other, batches, settings: #""canary": {"share": 100}"#)
        }
        let node = try host.current.node("vendors").node
        let both = OutboxBatch(events: events("track", "identify"))
        #expect(try await node.deliver(both).get() == [.accepted, .accepted])
        #expect(host.report["vendors/batches"]?.calls?.total == 1)
        #expect(host.report["vendors/other"]?.calls?.total == 1)
        await host.close()
        withExtendedLifetime(workspace) {}
    }
}
