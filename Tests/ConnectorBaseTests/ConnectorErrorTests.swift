// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// What errors say, as text and as JSON.
@Suite struct ConnectorErrorTests {
    @Test func `one line names the place, the connector, the code and the remedy`() {
        let position = FilePosition(file: "f", line: 2, column: 3)
        let error = ConnectorError(
            .unknownKey,
            "unknown key",
            fix: "drop it",
            connector: "a/b",
            position: position,
            cause: "raw"
        )
        #expect(error.description == "f:2:3: a/b: unknown key [unknown-key]; drop it")
        #expect(error.treeDescription.contains("cause: raw"))
        #expect(error.treeDescription.contains("ConnectorBaseTests"))
        #expect(ConnectorError(.failed, "no").description == "no [failed]")
        #expect(ConnectorError.Code(rawValue: "not-elf") == .notELF)
    }

    @Test func `it is one line whatever is in its texts`() {
        let position = FilePosition(file: "f\r", line: 2, column: 3)
        var error = ConnectorError(
            .invalid,
            "no \"a\u{1B}[2J\nb\"",
            fix: "drop\n\u{202E}it",
            connector: "a\u{7F}",
            position: position
        )
        #expect(
            error.description == #"f\u{d}:2:3: a\u{7f}: no "a\u{1b}[2J b" [invalid]; drop \u{202e}it"#
        )
        #expect(error.asCause == #"f\u{d}:2:3: no "a\u{1b}[2J b" [invalid]"#)
        error = ConnectorError(.invalid, "no é, “a”")
        #expect(error.description == "no é, “a” [invalid]")
    }

    @Test func `in JSON, the wait before another try has whole milliseconds, and is never shorter`() {
        for (nanoseconds, milliseconds) in [(999_999, 1), (2_000_000, 2), (2_000_001, 3)] as [(Int, Int64)] {
            let error = ConnectorError(.rateLimited, "no", retryAfter: .nanoseconds(nanoseconds))
            #expect(error.json["retryAfterMilliseconds"] == JSONValue.integer(milliseconds))
        }
    }

    @Test func `the tree has a line for each failed outcome, with its cause`() {
        var error = ConnectorError(.partial, "a took it, b and c did not")
        error.outcomes = [
            CallOutcome("a"),
            CallOutcome("b", error: ConnectorError(.invalid, "no title", cause: "HTTP 400")),
            CallOutcome("c", error: ConnectorError(.notOpen, "the gate is closed", connector: "c/d")),
        ]
        let lines = error.treeDescription.split(separator: "\n")
        #expect(
            lines.dropLast() == [
                "a took it, b and c did not [partial]",
                "├─ b: no title [invalid]",
                "│  └─ cause: HTTP 400",
                "├─ c/d: the gate is closed [not-open]",
            ]
        )
    }
}
