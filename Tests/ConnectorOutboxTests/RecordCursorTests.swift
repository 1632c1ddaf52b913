// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorOutbox

/// Cursors as texts.
@Suite struct RecordCursorTests {
    @Test(arguments: [
        "", ".", "..", "1.2.", "1.2", "-1.2.a", "1.-2.a", "01.2.a", "+1.2.a", "1.2a.b", "99999999999999999999.1.a",
    ])
    func `a text that is not a cursor is refused`(_ text: String) {
        #expect(RecordCursor(text) == nil)
    }

    @Test(arguments: [
        "0.0.a", "1767225600000000000.7.analytics/segment", "1.9999999999999999999.a.b.\u{e9}", "1.2.\u{301}a",
    ])
    func `a cursor is written as it was read`(_ text: String) {
        #expect(RecordCursor(text)?.description == text)
    }
}
