// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS

/// Messages as JetStream's API writes them.
@Suite struct NATSMessageTests {
    private func stored(_ headers: String) -> NATSMessage? {
        NATSMessage(stored: ["seq": 7, "subject": "s", "hdrs": .string(Base64.encode(Array(headers.utf8)))])
    }

    @Test func `headers are read line by line`() throws {
        let message = try #require(stored("NATS/1.0\r\nNats-Msg-Id: 1\r\nConnector-Event:  one two\r\n\r\n"))
        #expect(message.event == "one two")
        #expect(message.failure == nil)
        #expect(message.sequence == 7)
    }

    @Test(arguments: ["-9223372036854775808", "-1", "0", "9223372036854775808", "x", ""])
    func `a subject without a valid sequence or delivery count is not a lease`(_ number: String) {
        #expect(NATSLease("$JS.ACK.OUTBOX.a.1.7.7.1767225600000000000.0")?.sequence == 7)
        #expect(NATSLease("$JS.ACK.OUTBOX.a.\(number).7.7.1767225600000000000.0") == nil)
        #expect(NATSLease("$JS.ACK.OUTBOX.a.1.\(number).7.1767225600000000000.0") == nil)
    }

    @Test func `an error counts only at the beginning of an answer, before what may be an event`() throws {
        func refusal(after count: Int) -> JetStream.Refusal? {
            let filling = String(repeating: "x", count: count)
            let text = #"{"type":"\#(filling)","error":{"code":503,"err_code":10077,"description":"full"}}"#
            let object: JSONValue = ["seq": 1, "hdrs": "", "data": .string(Base64.encode(Array(text.utf8)))]
            return NATSMessage(stored: object).flatMap(JetStream.refusal)
        }
        let full = try #require(refusal(after: 100))
        #expect(full.lacksSpace && !full.isTransient)
        #expect(refusal(after: 1024) == nil)
    }

    @Test(arguments: ["x", "\u{e9}", "\u{1F600}", "e\u{301}"])
    func `a dead letter keeps only the beginning of a long reason`(_ text: String) throws {
        let reason = String(repeating: text, count: 5000)
        let time = OutboxEvent.start
        let header = NATSEvent.failureHeader(position: 1, at: time, count: 1, DeliveryFailure(.invalid, reason))
        #expect(header.utf8.count <= 3200)
        let message = try #require(stored("NATS/1.0\r\nConnector-Failure: \(header)\r\n\r\n"))
        let kept = try #require(NATSEvent.failure(message)?.attempt.failure?.reason)
        #expect((1020...1024).contains(kept.utf8.count) && reason.utf8.starts(with: kept.utf8))
    }

    @Test(arguments: [
        ("event-1", false), ("event-1.20", false), ("event-1.replayed-7", true), ("event-1.moved-b-9", true),
    ])
    func `an event that was put back in the queue is known by the id of its message`(_ id: String, _ isRenewed: Bool)
        throws
    {
        let message = try #require(stored("NATS/1.0\r\nNats-Msg-Id: \(id)\r\n\r\n"))
        #expect(NATSEvent.isRenewed(message, of: .numbered(1)) == isRenewed)
        #expect(NATSLease("$JS.ACK.OUTBOX.a.1.7.7.1767225600000000000.0")?.time == OutboxEvent.start)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `a stored message whose number no other could follow is refused`(_ number: Int64) {
        #expect(NATSMessage(stored: ["seq": .integer(number), "hdrs": "", "data": ""]) == nil)
    }

    @Test func `absurd counts are bounded, and adding them saturates`() {
        let counts: JSONValue = ["least": .integer(.min), "most": .integer(.max), "text": "7"]
        #expect(counts.count("least") == 0 && counts.count("text") == 0 && counts.count("absent") == 0)
        #expect(counts.count("most").saturatingAdding(counts.count("most")) == .max)
    }

    @Test func `a filter with a slot beyond the limit is not one of ours`() {
        let layout = NATSLayout(stream: "OUTBOX")
        #expect(layout.slot(layout.filter(9_999)) == 9_999)
        #expect(layout.slot(layout.filter(10_000)) == nil)
    }

    @Test(arguments: ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"])
    func `a line ends where the protocol says, whatever Unicode counts as a line break`(_ separator: String) throws {
        let message = try #require(stored("NATS/1.0\r\nOther: text\(separator)Connector-Event: forged\r\n\r\n"))
        #expect(message.event == nil)
    }
}
