// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// What the commands say about an invalid sidecar: its own file, line, column and field, never the configuration's.
@Suite struct ManifestFaultTests {
    /// A sidecar, and what is said about it.
    struct Mistake: Sendable, CustomTestStringConvertible {
        var manifest: String
        var place: String
        var words: [String]

        var testDescription: String { words.joined(separator: ", ") }

        init(_ members: String, _ place: String, _ words: String...) {
            manifest = "{\"manifest\": 1, \"id\": \"tool\", \"version\": \"1.0.0\", \"abi\": [1, 1],\n\(members)\n}"
            self.place = place
            self.words = words
        }
    }

    static let mistakes = [
        Mistake(
            #""library": "libc.so.6", "configuration": {"key": {"type": "string" "secret": true}}"#,
            "2:68",
            "configuration.key",
            "expected ',' or '}'"
        ),
        Mistake(
            #""library": "libc.so.6", "egress": ["https://api.example.com/v1"]"#,
            "2:36",
            "a URL, and a host is needed",
            "\"api.example.com\""
        ),
        Mistake(#""library": "libc.so.6", "egress": ["api example"]"#, "2:36", "not a host"),
        Mistake(
            #""library": "libc.so.6", "services": {"required": ["htp/1"]}"#,
            "2:51",
            "host service \"htp/1\"",
            "did you mean \"http/1\"?"
        ),
        Mistake(
            #""library": "libc.so.6", "configuration": {"key": {"type": "text"}}"#,
            "2:59",
            "configuration.key",
            "unknown type"
        ),
        Mistake(
            #""library": "libc.so.6", "configuration": {"key": {"type": "integer", "secret": true}}"#,
            "2:59",
            "configuration.key",
            "secret"
        ),
        Mistake(
            #""library": "libc.so.6", "capabilities": {"a/1": {"f": {"symbol": "f", "signature": "(a: text)"}}}"#,
            "2:84",
            "capabilities.a/1.f.signature"
        ),
        Mistake(#""library": 5"#, "2:12", "library"),
    ]

    @Test(arguments: mistakes)
    func `every command names the position in the sidecar`(mistake: Mistake) async throws {
        let workspace = try Workspace()
        try workspace.write(mistake.manifest, to: "P/tool.connector.json")
        try workspace.configure([["name": "tool", "plugin": "tool"]], plugins: ["P"])
        let place = "P/tool.connector.json:\(mistake.place): "
        let program = workspace.program.alone
        for arguments in [["status"], ["validate"], ["inspect", "P/tool.connector.json"], ["plugins"]] {
            let child = try program.start(arguments)
            let result = try await child.finish()
            let text = result.output + result.error
            #expect(text.contains(place), "\(arguments): \(text)")
            for words in mistake.words { #expect(text.contains(words), "\(arguments): \(text)") }
            #expect((result.status == 0) == (arguments[0] == "plugins"))
        }
        let document = try JSONValue(parsing: try await program.run("status", "--json").output)
        let error = document["gates"]?[0]?["error"]
        #expect(error?["file"]?.string?.hasSuffix("P/tool.connector.json") == true, "\(document)")
        #expect(error?["line"] == 2)
        for command in [["call", "tool", "f"], ["operations", "tool"]] {
            let result = try await program.start(command).finish()
            #expect(result.status == 1)
            #expect(
                result.error.contains(place) && result.error.contains("manifest]")
                    || result.error.contains("[unsupported]")
            )
        }
    }

    @Test func `a line for a connector whose sidecar is invalid has the position in the sidecar`() async throws {
        let workspace = try Workspace()
        let mistake = Self.mistakes[2]
        try workspace.write(mistake.manifest, to: "P/tool.connector.json")
        try workspace.configure([["name": "tool", "plugin": "tool"]], plugins: ["P"])
        try workspace.write("{\"a\": 1}\n", to: "events.jsonl")
        var program = workspace.program
        program.input = "\(workspace.path)/events.jsonl"
        let result = try await program.run("send", "tool", "f", "-")
        let place = "P/tool.connector.json:\(mistake.place): error: tool: line 1 of standard input: "
        #expect(result.status == 1 && result.error.contains(place), "\(result.error)")
        let document = try JSONValue(parsing: try await program.run("send", "tool", "f", "-", "--json").output)
        let error = document["errors"]?[0]
        #expect(error?["line"] == 2 && error?["column"] == 36, "\(error ?? .null)")
    }

    @Test(arguments: [
        (
            #""configuration": {"key": {"type": "text", "documentation": "The key of the project."}}"#,
            "--> \"text\", \"documentation\": \"The key", "configuration.key"
        ),
        (
            #""configuration": {"key": {"type": "string" "secret": true}}"#, "\"type\": \"string\"  --> \"secret\"",
            "configuration.key"
        ),
    ])
    func `a manifest without line breaks is quoted where it is wrong`(
        _ member: String,
        _ quotation: String,
        _ field: String
    ) async throws {
        let workspace = try Workspace()
        let manifest =
            #"{"manifest": 1, "id": "tool", "version": "1.0.0", "abi": [1, 1], "entry": "tool_entry", "documentation": "A tool in C.", "#
            + member + "}"
        try workspace.write("#include <connector/connector.h>\nCONNECTOR_MANIFEST(\(manifest));\n", to: "tool.c")
        let include =
            #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" }
            + "/Sources/CConnector/include"
        #expect(
            shell("cd '\(workspace.path)' && mkdir P && cc -shared -fPIC -I'\(include)' tool.c -o P/libtool.so") == 0
        )
        try workspace.configure([["name": "tool", "plugin": "tool"]], plugins: ["P"])
        for arguments in [["validate"], ["inspect", "P/libtool.so"]] {
            let result = try await workspace.program.start(arguments).finish()
            let text = result.output + result.error
            #expect(text.contains("P/libtool.so:1:"), "\(text)")
            #expect(text.contains(quotation), "\(text)")
            #expect(text.contains(field), "\(text)")
        }
    }
}
