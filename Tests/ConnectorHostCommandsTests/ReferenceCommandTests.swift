// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// `connector-host reference`.
@Suite struct ReferenceCommandTests {
    private static let pages = [
        "manifest", "configuration", "answers", "capabilities", "commands", "conformance", "metrics", "errors",
    ]

    @Test func `the reference pages in docs are what the program prints`() async throws {
        let program = Program(directory: FixturePlugins.root)
        let result = try await program.run("reference", "--into", "docs/reference", "--check")
        #expect(result.status == 0, "run: make docs\n\(result.error)")
        for page in Self.pages {
            #expect(try await program.run("reference", page).output == readFile("docs/reference/\(page).md"))
        }
        #expect(try readFile("docs/reference/conformance.md").contains("## Life cycle"))
    }

    @Test func `help and rules name no page of the repository, which an installation lacks`() throws {
        for page in Self.pages {
            let text = try readFile("docs/reference/\(page).md")
            let named = text.matches(of: #/docs/[a-z-]+\.md/#).map { String($0.output) }
            #expect(named.isEmpty, "\(page)")
        }
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
    }

    @Test func `the folder of the pages is made, but not to compare them`() async throws {
        let workspace = try Workspace()
        #expect(try await workspace.program.run("reference", "--into", "new/folder").status == 0)
        #expect(try await workspace.program.run("reference", "--into", "new/folder", "--check").status == 0)
        #expect(try await workspace.program.run("reference", "--into", "nowhere", "--check").status == 1)
        #expect(shell("test ! -e '\(workspace.path)/nowhere'") == 0)
        let below = try await workspace.program.run("reference", "--into", "new/folder/errors.md/folder")
        #expect(below.status == 1, "\(below)")
        #expect(below.error.contains("the folder new/folder/errors.md/folder cannot be made"), "\(below.error)")
    }

    @Test func `either a page or a folder must be named`() async throws {
        let program = Program(directory: "/")
        let wrong = [[], ["errors", "--into", "."], ["errors", "--check"], ["nothing"], ["errors", "--plugin", "a"]]
        for arguments in wrong {
            #expect(try await program.start(["reference"] + arguments).finish().status == 64, "\(arguments)")
        }
    }

    @Test func `a plugin's page has what its manifest says, and keeps what was written by hand`() async throws {
        let workspace = try Workspace()
        func manifest(_ minimum: Int) throws {
            let field =
                #"{ "type": "integer", "minimum": \#(minimum), "maximum": 9, "default": 5, "documentation": "How |\#u{301} many." }"#
            try workspace.write(
                """
                { "manifest": 1, "id": "rates", "version": "1.2.0", "abi": [1, 1], "entry": "rates", "documentation": "Rates.",
                  "egress": ["{endpoint}", "*.example.com"], "services": { "required": ["http/1"] },
                  "configuration": { "endpoint": { "type": "url", "required": true, "documentation": "Where." },
                    "key": { "type": "string", "required": true, "secret": true }, "count": \(field) },
                  "capabilities": { "geocoder/1": { "except": ["reverse"] } } }
                """,
                to: "rates.connector.json"
            )
        }
        try manifest(1)
        let reference = ["reference", "--plugin", "rates.connector.json"]
        func run(_ options: String...) async throws -> Program.Result {
            try await workspace.program.start(reference + options).finish()
        }
        let text = try await run().output
        for part in [
            "# rates\n\nRates.\n", "| version | 1.2.0 |", "| capability | `geocoder/1`: `geocode`; not `reverse` |",
            "| sends to | the host of `endpoint`, `*.example.com`, and nowhere else |", "| services | `http/1` |",
            "| `key` (required, secret) | string |", "| `count` | integer, 1 to 9 | How \\|\u{301} many. | `5` |",
        ] { #expect(text.contains(part), "\(part)") }
        #expect(try await run("--into", ".").status == 0)
        #expect(try readFile(at: "\(workspace.path)/rates.md") == text)
        try workspace.write("Mine.\n\n\(text)\nMine, too.\n", to: "rates.md")
        #expect(try await run("--into", ".", "--check").status == 0)
        try manifest(2)
        #expect(try await run("--into", ".", "--check").status == 1)
        #expect(try await run("--into", ".").status == 0)
        let page = try readFile(at: "\(workspace.path)/rates.md")
        #expect(page.hasPrefix("Mine.\n") && page.hasSuffix("Mine, too.\n") && page.contains("integer, 2 to 9"))
        try workspace.write("Nothing.\n", to: "rates.md")
        let unmarked = try await run("--into", ".")
        #expect(unmarked.status == 1 && unmarked.error.contains("<!-- manifest -->"), "\(unmarked.error)")
    }

    @Test func `with --json every form prints one document`() async throws {
        let workspace = try Workspace()
        try workspace.write(
            #"{"manifest": 1, "id": "rates", "version": "1.0.0", "abi": [1, 1], "entry": "e", "capabilities": {"geocoder/1": {}}}"#,
            to: "rates.connector.json"
        )
        func run(_ arguments: String...) async throws -> JSONValue {
            let result = try await workspace.program.start(["reference", "--json"] + arguments).finish()
            #expect(result.error.isEmpty)
            return try JSONValue(parsing: result.output)
        }
        let page = try await run("metrics")["pages"]?[0]
        #expect(page?["name"] == "metrics")
        #expect(try page?["text"]?.string == readFile("docs/reference/metrics.md"))
        #expect(try await run("--into", ".")["written"]?.array?.count == Self.pages.count)
        #expect(try await run("--into", ".", "--check")["current"]?[0] == "./manifest.md")
        #expect(try await run("--plugin", "rates.connector.json")["pages"]?[0]?["name"] == "rates")
        let failed = try await run("--plugin", "rates.connector.json", "--plugin", "none.connector.json")
        #expect(failed["errors"]?.array?.count == 1 && failed["pages"] == nil)
    }

    @Test func `what a manifest says neither ends its part of the page nor hides in a comment`() async throws {
        let workspace = try Workspace()
        try workspace.write(
            #"""
            { "manifest": 1, "id": "marks", "version": "1.0.0", "abi": [1, 1], "entry": "e", "documentation": "<!-- manifest -->",
              "configuration": { "key": { "documentation": "A <!-- /manifest --> b", "default": "<!-- /manifest -->" } },
              "capabilities": { "geocoder/1": {} } }
            """#,
            to: "marks.connector.json"
        )
        func run(_ options: String...) async throws -> Program.Result {
            try await workspace.program.start(["reference", "--plugin", "marks.connector.json"] + options).finish()
        }
        let text = try await run().output
        #expect(text.hasPrefix("# marks\n\n<\\!-- manifest -->\n"), "\(text)")
        #expect(text.contains(#"| A <\!-- /manifest --> b |"#), "\(text)")
        for _ in 1...3 { #expect(try await run("--into", ".").status == 0) }
        #expect(try readFile(at: "\(workspace.path)/marks.md") == text)
        #expect(try await run("--into", ".", "--check").status == 0)
    }

    @Test func `what a manifest says cannot steer the display of its page, nor leave its row`() async throws {
        let workspace = try Workspace()
        try workspace.write(
            #"""
            { "manifest": 1, "id": "evil", "version": "1.0.0", "abi": [1, 1], "entry": "e", "documentation": "A\u001b[2J.",
              "configuration": { "key": { "type": "string", "documentation": "B\u001b[2J.\n\n# C", "default": "\u202ed" } },
              "capabilities": { "geocoder/1": {} } }
            """#,
            to: "evil.connector.json"
        )
        let result = try await workspace.program.run("reference", "--plugin", "evil.connector.json")
        let page = result.output
        #expect(result.status == 0 && !page.contains("\u{1B}") && !page.contains("\u{202E}"), "\(result)")
        #expect(page.contains("\nA\\u{1b}[2J.\n") && page.contains("| B\\u{1b}[2J.  # C |"), "\(page)")
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
