// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorTestSupport
import Foundation
import Testing

@testable import ConnectorSimulator

/// The JSON Schema of a file of answers accepts what the simulator accepts.
@Suite struct AnswersSchemaTests {
    private static let check = SchemaCheck(schema: AnswersSchema.json)

    /// The recordings and the answers of the examples, by path.
    private static let files: [String] = {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let folders = ["Plugins", "Examples/Interface", "Examples/Recording", "Examples/site-watch/sites"]
        return folders.flatMap { folder -> [String] in
            let found = FileManager.default.enumerator(atPath: "\(root)/\(folder)")
            let names = (found?.allObjects as? [String] ?? []).filter { name in
                [".recording.json", ".answers.json"].contains { name.hasSuffix($0) } || folder.hasSuffix("sites")
            }
            return names.filter { $0.hasSuffix(".json") && !$0.contains(".build") }.map { "\(root)/\(folder)/\($0)" }
        }
    }()

    private func isAccepted(_ text: String) -> Bool {
        (try? SimulatedWorld(parsing: Array(text.utf8), file: "a.json")) != nil
    }

    @Test func `the schema accepts every file that is shipped`() throws {
        #expect(Self.files.count >= 10)
        for path in Self.files {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(isAccepted(text), "\(path)")
            #expect(try Self.check.faults(in: JSONValue(parsing: text)) == [], "\(path)")
        }
    }

    @Test(arguments: [
        #""answers": [], "time": "2026-01-31T09:30:00.5+01:00""#,
        #""answers": [{"path": "/", "base64": "AA==", "delay": "60m", "headers": {"X-A": "é\tb"}}]"#,
        #""timeline": [{"every": "1s", "times": 2, "event": {"name": "e"}}, {"at": "0s", "fault": "reset", "for": "1s"}]"#,
        #""operations": [{"operation": "f", "delay": "000s"}], "timeline": [{"at": "1s", "error": {"code": "denied"}}]"#,
        #""timeline": [{"at": "8760h", "every": "0031536000000ms", "event": {"name": "e"}}]"#,
        #""operations": [], "answers": [], "timeline": [{"at": "1s", "fault": "reset"}]"#,
    ])
    func `what the simulator accepts the schema accepts, too`(members: String) throws {
        let text = "{\"version\": 1, \(members)}"
        #expect(isAccepted(text))
        #expect(try Self.check.faults(in: JSONValue(parsing: text)) == [])
    }

    @Test(arguments: [
        #""answers": [], "time": "now""#, #""answers": [], "time": "1969-01-01T00:00:00Z""#,
        #""answers": [{"path": "/", "base64": "!"}]"#, #""answers": [{"path": "/", "when": {"base64": "A"}}]"#,
        #""answers": [{"path": "/", "delay": "61m"}]"#, #""answers": [{"path": "/", "headers": {"a b": "c"}}]"#,
        #""answers": [{"path": "/", "json": 1, "text": "a"}]"#,
        #""operations": [{"operation": "f", "error": {"code": "denied", "retryAfter": "2h"}}]"#,
        #""timeline": [{"at": "1s"}]"#, #""timeline": [{"at": "1s", "times": 2, "event": {"name": "e"}}]"#,
        #""timeline": [{"at": "8761h", "event": {"name": "e"}}]"#,
        #""timeline": [{"every": "31536001s", "event": {"name": "e"}}]"#,
        #""answers": [{"path": "/", "delay": "3600001ms"}]"#,
        #""timeline": [{"every": "0s", "event": {"name": "e"}}]"#,
        #""timeline": [{"at": "1s", "for": "1s", "event": {"name": "e"}}]"#,
        #""timeline": [{"at": "1s", "for": "0s", "fault": "reset"}]"#,
        #""timeline": [{"at": "1s", "error": {"code": "denied"}}]"#,
        #""operations": [], "timeline": [{"at": "1s", "fault": "reset"}]"#,
    ])
    func `what the simulator refuses the schema refuses, too`(members: String) throws {
        let text = "{\"version\": 1, \(members)}"
        #expect(!isAccepted(text))
        #expect(try !Self.check.faults(in: JSONValue(parsing: text)).isEmpty)
    }
}
