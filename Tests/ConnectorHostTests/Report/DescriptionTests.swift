// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorOutbox

/// What an application sees that prints a result.
@Suite struct DescriptionTests {
    private let error = ConnectorError(.unavailable, "no connection", fix: "try again", connector: "shop/crm")

    @Test func `a receipt says in one line what became of the event at each connector`() {
        let receipt = Receipt(
            id: "order-7",
            connectors: ["a", "b"],
            dropped: ["c"],
            outcomes: [CallOutcome("d"), CallOutcome("shop/crm", error: error)],
            outbox: nil
        )
        let expected = "order-7: queued for a, b; d: taken; shop/crm: no connection [unavailable]; dropped by c"
        #expect("\(receipt)" == expected)
        #expect("\(DeliveryChange("a", .delivered))" == "a: delivered")
        #expect(
            "\(DeliveryChange("shop/crm", .dead, error: error))" == "shop/crm: dead, no connection [unavailable]"
        )
    }

    @Test func `the state of an outbox is one line`() {
        var report = OutboxReport(queued: 3, bytes: 90, dead: 1, delivered: 120, dropped: 2, perSecond: 0)
        #expect("\(report)" == "3 queued, 120 delivered, 1 dead, 2 dropped")
        (report.failure, report.code) = ("no connection", .unavailable)
        #expect("\(report)" == "3 queued, 120 delivered, 1 dead, 2 dropped; no connection [unavailable]")
    }

    @Test func `the answer to an event and what a store knows about a file are one line each`() {
        #expect("\(DeliveryAnswer.accepted)" == "accepted")
        #expect("\(DeliveryAnswer.accepted(id: "4711"))" == "accepted as 4711")
        #expect("\(DeliveryAnswer.rejected("no\nsuch user"))" == "rejected: no such user [invalid]")
        let later = DeliveryAnswer.retry("too many events", after: .seconds(2), code: .rateLimited)
        #expect("\(later)" == "retry after 2.0 s: too many events [rate-limited]")
        let time = Timestamp(nanoseconds: 1_767_225_600_000_000_000)
        var file = FileEntry(path: "a/b.txt", size: 3, modified: time, tag: "t")
        #expect("\(file)" == "a/b.txt: 3 bytes, of 2026-01-01T00:00:00.000Z")
        file.contentType = "text/plain"
        #expect("\(file)" == "a/b.txt: 3 bytes, text/plain, of 2026-01-01T00:00:00.000Z")
    }

    @Test func `a dead letter is printed without its payload`() throws {
        let event = OutboxEvent(
            id: "order-7",
            kind: EventKind("orders/1", "placed"),
            createdAt: Timestamp(nanoseconds: 1_767_225_600_000_000_000),
            payload: Array(#"{"name":"Ada"}"#.utf8)
        )
        let attempt = PastAttempt(
            at: event.createdAt,
            until: event.createdAt,
            count: 1,
            failure: DeliveryFailure(.invalid, "no such user")
        )
        let record = OutboxRecord(
            path: "shop/crm",
            event: event,
            state: .dead,
            attempts: [attempt],
            cursor: RecordCursor(time: .max, position: 1, path: "shop/crm")
        )
        let letter = try #require(DeadLetter(record))
        #expect("\(letter)" == "order-7, orders/1 placed, at shop/crm: no such user [invalid]")
    }

    @Test func `a plan names what changes, and no values`() throws {
        let change: JSONValue = [
            "path": "shop/crm", "change": "changed", "leaf": true, "cost": "opens-beside",
            "fields": [["name": "config.key", "from": "old-value", "to": "new-value"]],
        ]
        let moved: JSONValue = ["path": "new", "was": "old", "change": "moved", "leaf": true, "cost": "nothing"]
        func plan(_ changes: JSONValue...) throws -> Plan {
            let document: JSONValue = [
                "version": 1, "running": "a", "target": "b", "changes": .array(changes), "kept": ["x", "y"],
            ]
            return try #require(Plan(json: document))
        }
        #expect(try "\(plan(change, moved))" == "shop/crm changed; new moved from old; 2 kept")
        #expect(try "\(plan())" == "nothing changes; 2 kept")
    }
}
