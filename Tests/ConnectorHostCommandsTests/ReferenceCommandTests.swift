// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// `connector-host reference`.
@Suite struct ReferenceCommandTests {
    private static let pages = [
        "manifest", "configuration", "answers", "capabilities", "commands", "conformance", "metrics", "errors",
    ]

    @Test func `the pages beside the others are what the program prints`() async throws {
        let program = Program(directory: FixturePlugins.root)
        let result = try await program.run("reference", "--into", "docs/reference", "--check")
        #expect(result.status == 0, "run: make docs\n\(result.error)")
        for page in Self.pages {
            #expect(try await program.run("reference", page).output == readFile("docs/reference/\(page).md"))
        }
        #expect(try readFile("docs/reference/conformance.md").contains("## Life cycle"))
    }

    @Test func `pages are written, and one that differs is named`() async throws {
        let workspace = try Workspace()
        #expect(try await workspace.program.run("reference", "--into", ".").status == 0)
        #expect(try await workspace.program.run("reference", "--into", ".", "--check").status == 0)
        try workspace.write("# Metrics\n", to: "metrics.md")
        #expect(shell("rm '\(workspace.path)/errors.md'") == 0)
        let result = try await workspace.program.run("reference", "--into", ".", "--check", "--json")
        #expect(result.status == 1)
        let errors = try #require(JSONValue(parsing: result.output)["errors"]?.array)
        #expect(errors.map { $0["code"]?.string } == ["invalid-value", "not-found"])
        #expect(errors[0]["message"]?.string?.contains("metrics.md") == true)
        #expect(try await workspace.program.run("reference", "--into", "nowhere").status == 1)
    }

    @Test func `either a page or a folder is named`() async throws {
        let program = Program(directory: "/")
        for arguments in [[], ["errors", "--into", "."], ["errors", "--check"], ["nothing"]] {
            #expect(try await program.start(["reference"] + arguments).finish().status == 64, "\(arguments)")
        }
    }

    @Test func `every key of a schema is in its page`() throws {
        for (schema, page) in [("connectors", "configuration"), ("manifest", "manifest"), ("answers", "answers")] {
            let text = try readFile("docs/reference/\(page).md")
            let keys = try JSONValue(parsing: readFile("\(schema).schema.json"))["properties"]?.object?.names ?? []
            #expect(keys.count >= 4)
            for key in keys { #expect(text.contains("| `\(key)`"), "\(page): \(key)") }
        }
    }
}
