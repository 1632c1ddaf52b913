// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// `connector-host call` and `operations`.
@Suite struct CallCommandTests {
    private func workspace() throws -> Workspace {
        let workspace = try Workspace()
        try workspace.configure([
            [
                "name": "tools", "policy": "all",
                "connectors": [["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))]],
            ]
        ])
        return workspace
    }

    /// Words of a command line, and what is printed for them.
    static let answers: [(words: [String], answer: String)] = [
        (["add", "1", "2"], "3\n"), (["add", "b=2", "a=1"], "3\n"), (["add", "{\"a\": 4, \"b\": 5}"], "9\n"),
        (["calculator/add", "1", "b=2"], "3\n"), (["divide", "1", "8"], "0.125\n"),
        (["upper", "hello, world"], "HELLO, WORLD\n"), (["upper", "text=a=b"], "A=B\n"),
        (["echo", "{\"value\": [1, null]}"], "{\n  \"value\": [\n    1,\n    null\n  ]\n}\n"),
        (["add", "--", "-1", "-2"], "-3\n"),
    ]

    @Test(arguments: answers)
    func `arguments are taken in order, by name or as one object`(words: [String], answer: String) async throws {
        let result = try await workspace().program.start(["call", "tools/calculator"] + words).finish()
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output == answer)
        #expect(result.error == "")
    }

    /// Words that do not fit, and what is said about them.
    static let misfits: [(words: [String], problem: String)] = [
        (["add", "1"], "add(a: i64, b: i64) -> i64"), (["add", "1", "2", "3"], "add(a: i64, b: i64) -> i64"),
        (["add", "1", "x"], "add(a: i64, b: i64) -> i64"), (["add", "1", "c=2"], "add(a: i64, b: i64) -> i64"),
        (["add", "1", "a=2"], "\"a\" is given twice"), (["add", "1", "1.5"], "add(a: i64, b: i64) -> i64"),
        (["ad", "1", "2"], "did you mean \"add\"?"),
    ]

    @Test(arguments: misfits)
    func `arguments that do not fit are refused with the signature`(words: [String], problem: String) async throws {
        let result = try await workspace().program.start(["call", "tools/calculator"] + words).finish()
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.error.contains(problem))
    }

    @Test func `with --json the answer or the error is one document`() async throws {
        let program = try workspace().program
        let answer = try await program.run("call", "tools/calculator", "add", "1", "2", "--json")
        #expect(answer.status == 0)
        #expect(
            try JSONValue(parsing: answer.output)
                == ["version": 1, "path": "tools/calculator", "operation": "add", "result": 3]
        )
        let failure = try await program.run("call", "tools/calculator", "divide", "1", "0", "--json")
        #expect(failure.status == 1)
        #expect(failure.error == "")
        #expect(try JSONValue(parsing: failure.output)["errors"]?[0]?["message"] == "division by zero")
    }

    @Test func `without a UTF-8 locale an answer stays UTF-8 for a program, and is escaped JSON on a terminal`()
        async throws
    {
        var program = try workspace().program
        program.environment["LANG"] = nil
        let text = try await program.run("call", "tools/calculator", "echo", #""ü\tx\ny\u001b""#)
        #expect(text.output == "ü\tx\ny\\u{1b}\n")
        let list = ["call", "tools/calculator", "echo", #"["ü😀"]"#]
        #expect(try await program.start(list).finish().output == "[\n  \"ü😀\"\n]\n")
        program.isOnTerminal = true
        #expect(try await program.start(list).finish().output.contains(#""\u00fc\ud83d\ude00""#))
    }

    @Test func `a composite is called like a leaf`() async throws {
        let result = try await workspace().program.run("call", "tools", "add", "20", "22", "--json")
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("42"))
    }

    @Test func `a call of a gate that does not open fails with the reason`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "tool", "plugin": .string(FixturePlugins.broken("symbol-absent"))]])
        let result = try await workspace.program.run("call", "tool", "go", "--json")
        #expect(result.status == 1)
        let error = try JSONValue(parsing: result.output)["errors"]?[0]
        #expect(error?["code"] == "not-open")
        #expect(error?.description.contains("absent_go") == true)
    }

    /// A status that a call ends with, and what to do about it; nil for nothing.
    static let remedies: [(status: Int, remedy: String?)] = [
        (5, "check the names and ids among the arguments"),
        (6, "read it again, and repeat the change on the current version"),
        (9, "find out why the server is slow, or increase --timeout"), (1, nil),
    ]

    @Test(arguments: remedies)
    func `the remedy of a failed call concerns the call, not the configuration`(status: Int, remedy: String?)
        async throws
    {
        let workspace = try Workspace()
        try workspace.configure([["name": "calls", "plugin": .string(FixturePlugins.contract("calls"))]])
        let result = try await workspace.program.run("call", "calls", "refuse", "\(status)")
        #expect(result.status == 1)
        #expect(result.error.contains("calls: refused ["))
        #expect(result.error.split(separator: "\n").last { $0.contains("→ ") } == remedy.map { "    → \($0)" })
        #expect(!result.error.contains("\"config\""))
    }

    @Test func `operations are listed with signature and documentation`() async throws {
        let program = try workspace().program
        let result = try await program.run("operations")
        #expect(result.status == 0)
        #expect(
            result.lines.prefix(4) == [
                "tools/calculator", "  calculator/1", "    add(a: i64, b: i64) -> i64", "        The sum.",
            ]
        )
        let document = try JSONValue(parsing: try await program.run("operations", "tools", "--json").output)
        #expect(document["version"] == 1)
        #expect(document["connectors"]?[0]?["path"] == "tools/calculator")
        #expect(document["connectors"]?[0]?["operations"]?[0]?["signature"] == "(a: i64, b: i64) -> i64")
        let unknown = try await program.run("operations", "tolls")
        #expect(unknown.status == 1)
        #expect(unknown.error.contains("did you mean \"tools\"?"))
    }
}
