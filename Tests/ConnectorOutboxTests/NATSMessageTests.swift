// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox

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

    @Test(arguments: ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"])
    func `a line ends where the protocol says, whatever Unicode calls a new one`(_ separator: String) throws {
        let message = try #require(stored("NATS/1.0\r\nOther: text\(separator)Connector-Event: forged\r\n\r\n"))
        #expect(message.event == nil)
    }
}
