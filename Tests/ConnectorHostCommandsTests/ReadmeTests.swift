// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// What README and the pages of `docs` show is what there is.
@Suite struct ReadmeTests {
    /// A fenced block with the comment in front of it: `<!-- file: PATH -->` or `<!-- output: ARGUMENTS -->`.
    struct Block {
        var kind: String
        var subject: String
        var text: String
    }

    /// Every page that a reader finds: README, and those of `docs` that it leads to.
    static func pages() throws -> [String] {
        let links = try readFile("README.md").matches(of: #/\]\((docs/[a-z-]+\.md)\)/#).map { String($0.output.1) }
        return ["README.md"] + Set(links).sorted()
    }

    private static func blocks() throws -> [Block] {
        try pages().flatMap { page in
            let lines = try readFile(page).split(separator: "\n", omittingEmptySubsequences: false)
            var blocks: [Block] = []
            for (index, line) in lines.enumerated() where line.hasPrefix("<!-- ") && line.hasSuffix(" -->") {
                let parts = line.dropFirst(5).dropLast(4).split(separator: ":", maxSplits: 1)
                let content = lines[(index + 2)...].prefix { !$0.hasPrefix("```") }
                try blocks.append(
                    Block(
                        kind: String(#require(parts.first)),
                        subject: String(#require(parts.last).drop { $0 == " " }),
                        text: content.joined(separator: "\n")
                    )
                )
            }
            return blocks
        }
    }

    @Test func `README is a newcomer's five minutes, and leads to every page of docs`() throws {
        #expect(try readFile("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 220)
        #expect(try Self.pages() == ["README.md"] + Self.names("docs/*.md"))
    }

    @Test func `CONTRIBUTING names every folder of sources, and no other`() throws {
        let named = try readFile("CONTRIBUTING.md").matches(of: #/`(Sources/[A-Za-z-]+)`/#).map { String($0.output.1) }
        #expect(try Set(named) == Set(Self.names("Sources/*")))
    }

    /// The names that a pattern of the shell stands for, in order.
    private static func names(_ pattern: String) throws -> [String] {
        let workspace = try Workspace()
        return try withExtendedLifetime(workspace) {
            let listing = "\(workspace.path)/names"
            #expect(shell("cd '\(FixturePlugins.root)' && ls -d \(pattern) > '\(listing)'") == 0)
            return try readFile(at: listing).split(separator: "\n").map(String.init).sorted()
        }
    }

    @Test func `every link of a page leads to a file, and to a heading in it`() throws {
        for page in try Self.pages() + ["CONTRIBUTING.md"] + Self.names("docs/adapters/*.md") {
            let folder = page.split(separator: "/").dropLast().reduce(into: "") { $0 += "\($1)/" }
            let text = try readFile(page)
            for link in text.matches(of: #/(?:\]\(|src="|srcset=")([^)"]+)[)"]/#) where !link.output.1.hasPrefix("http")
            {
                let parts = link.output.1.split(separator: "#", omittingEmptySubsequences: false)
                let file = parts[0].isEmpty ? page : folder + parts[0]
                #expect(shell("test -e '\(FixturePlugins.root)/\(file)'") == 0, "\(page): \(link.output.1)")
                guard parts.count > 1 else { continue }
                let headings = try readFile(file).split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                    heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                }
                #expect(headings.contains(String(parts[1])), "\(page): \(link.output.1)")
            }
        }
    }

    @Test func `docs name every command of the program, and every command that they name is there`() async throws {
        let help = try await Program(directory: "/").run("--help").output
        let listed = try #require(help.split(separator: "SUBCOMMANDS:").last).split(separator: "\n")
            .compactMap { $0.wholeMatch(of: #/  ([a-z]+) .*/#).map { String($0.output.1) } }
        let page = try readFile("docs/commands.md")
        let named = page.split(separator: "\n").compactMap { line in
            line.prefixMatch(of: #/\| `([a-z]+)/#).map { String($0.output.1) }
        }
        #expect(Set(listed).subtracting(["help"]) == Set(named) && listed.count > 10)
    }

    @Test func `docs name every key of the file`() async throws {
        let schema = try JSONValue(parsing: readFile("connectors.schema.json"))
        let keys = [schema["properties"], schema["$defs"]?["connector"]?["properties"]].flatMap { object in
            object?.object?.members.map(\.name) ?? []
        }
        let page = try readFile("docs/configuration.md")
        #expect(keys.count > 20)
        for key in keys { #expect(page.contains("| `\(key)` |") || page.contains("| `\(key)."), "\(key)") }
    }

    @Test func `code in a page is a file of the examples, which are built and run`() throws {
        let blocks = try Self.blocks().filter { $0.kind == "file" }
        #expect(blocks.count >= 5)
        for block in blocks {
            var lines = try readFile(block.subject).split(separator: "\n", omittingEmptySubsequences: false)
            // A page needs no licence header.
            if lines.first?.hasPrefix("//") == true { lines = Array(lines.drop { $0.hasPrefix("//") }.dropFirst()) }
            if lines.first?.hasPrefix("/*") == true { lines = Array(lines.drop { !$0.hasSuffix("*/") }.dropFirst()) }
            #expect(block.text + "\n" == lines.joined(separator: "\n"), "run: scripts/update-readme")
        }
    }

    @Test func `the plugin in C is built with the command in docs, and greets`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "hello", "plugin": "hello"]], plugins: ["."])
        let page = try readFile("docs/plugins.md").split(separator: "\n")
        let command = try #require(page.first { $0.hasPrefix("$ cc ") }).dropFirst(2)
        let image = "\(workspace.path)/libhello.so"
        let line = command.replacing("Plugins/libhello.so", with: "'\(image)'")
        #expect(line != command && shell("cd '\(FixturePlugins.root)' && \(line)") == 0)
        #expect(try await workspace.program.run("inspect", "libhello.so").status == 0)
        #expect(try await workspace.program.run("call", "hello", "greet", "Ada").output == "Hello, Ada\n")
        let refusal = try await workspace.program.run("call", "hello", "greet", "")
        #expect(refusal.status == 1)
        #expect(refusal.error.contains("a greeting needs a name"))
    }

    @Test func `output in a page is what the program prints, but for the times`() async throws {
        let blocks = try Self.blocks().filter { $0.kind == "output" }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let arguments = block.subject.split(separator: " ").map(String.init)
            let result = try await Program(directory: FixturePlugins.root).start(arguments).finish()
            #expect(Self.withoutTimes(result.output) == Self.withoutTimes(block.text + "\n"), "\(result.error)")
        }
    }

    /// A text without durations, and without the blanks that line them up.
    private static func withoutTimes(_ text: String) -> String {
        text.replacing(/[0-9.]+ (ms|s|µs)/, with: "TIME").replacing(#/ +/#, with: " ")
    }
}
