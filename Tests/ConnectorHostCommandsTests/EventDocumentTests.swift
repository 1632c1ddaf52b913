// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import Testing

@testable import ConnectorHostCommands

/// What `watch` prints of an event.
@Suite struct EventDocumentTests {
    private func lines(_ name: String, _ payload: JSONValue, missed: Int = 0) -> [String] {
        let event = ConnectorEvent(connector: "gate", name: name, payload: payload, missed: missed)
        return EventDocument(event: event).lines(TextStyle(isColoured: false, isUnicode: false))
    }

    @Test func `how many events were lost is said before the next one`() {
        let event = "1970-01-01T00:00:00.000Z  gate  rang  {\"times\":1}"
        #expect(lines("rang", ["times": 1]) == [event])
        #expect(lines("rang", ["times": 1], missed: 1) == ["(1 event was lost)", event])
        #expect(lines("rang", ["times": 1], missed: 2) == ["(2 events were lost)", event])
    }

    @Test func `a plugin's settings that may have changed with its instance are told as that`() throws {
        let line = try #require(lines("settings-changed", [:]).last)
        let reason = "its instance was replaced, or a value is too long to show: read its settings again"
        #expect(line.hasSuffix("  gate  settings-changed  (\(reason))"))
        #expect(try #require(lines("settings-changed", ["theme": nil]).last).hasSuffix(#"  {"theme":null}"#))
        #expect(try #require(lines("rang", [:]).last).hasSuffix("  gate  rang  {}"))
    }
}
