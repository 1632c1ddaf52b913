// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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
    func `a lease has a number and was handed out, or it is none`(_ number: String) {
        #expect(NATSLease("$JS.ACK.OUTBOX.a.1.7.7.1767225600000000000.0")?.sequence == 7)
        #expect(NATSLease("$JS.ACK.OUTBOX.a.\(number).7.7.1767225600000000000.0") == nil)
        #expect(NATSLease("$JS.ACK.OUTBOX.a.1.\(number).7.1767225600000000000.0") == nil)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `a stored message has a number that another one can follow`(_ number: Int64) {
        #expect(NATSMessage(stored: ["seq": .integer(number), "hdrs": "", "data": ""]) == nil)
    }

    @Test func `counts that the server cannot have are bounded, and add up without an end`() {
        let counts: JSONValue = ["least": .integer(.min), "most": .integer(.max), "text": "7"]
        #expect(counts.count("least") == 0 && counts.count("text") == 0 && counts.count("absent") == 0)
        #expect(counts.count("most").saturatingAdding(counts.count("most")) == .max)
        var statistics = StatisticsTracker()
        var most = QueueStatistics()
        (most.queued, most.bytes, most.dead, most.delivered, most.dropped) = (.max, .max, .max, .max, .max)
        statistics.begin()
        statistics.end(OutboxReading(revision: 1, statistics: ["a": most]))
        statistics.note(.appended(count: 1, bytes: 1, oldest: nil), of: "a", revision: 2)
        #expect(statistics["a"]?.queued == .max && statistics["a"]?.bytes == .max)
        let change = StatisticsTracker.Change.settled(
            delivered: 1,
            dead: 1,
            dropped: 1,
            bytes: 1,
            oldest: nil,
            at: OutboxEvent.start
        )
        statistics.note(change, of: "a", revision: 3)
        #expect(statistics["a"]?.dead == .max && statistics["a"]?.queued == .max - 3)
    }

    @Test func `a filter of more connectors than there can be is none of ours`() {
        let layout = NATSLayout(stream: "OUTBOX")
        #expect(layout.slot(layout.filter(9_999)) == 9_999)
        #expect(layout.slot(layout.filter(10_000)) == nil)
    }

    @Test(arguments: ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"])
    func `a line ends where the protocol says, whatever Unicode calls a new one`(_ separator: String) throws {
        let message = try #require(stored("NATS/1.0\r\nOther: text\(separator)Connector-Event: forged\r\n\r\n"))
        #expect(message.event == nil)
    }
}
