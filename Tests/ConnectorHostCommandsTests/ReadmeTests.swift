// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// README and the pages of `docs` agree with the program and the examples.
@Suite struct ReadmeTests {
    /// A fenced block, with the comment in front of it, if any: `<!-- file: PATH -->` or `<!-- output: ARGUMENTS -->`.
    struct Block {
        var page: String
        var language: String
        var kind: String
        var subject: String
        var text: String
    }

    /// Every page that a reader finds: README, and those of `docs` that it leads to.
    static func pages() throws -> [String] {
        let links = try readFile("README.md").matches(of: #/\]\((docs/[a-z-]+\.md)\)/#).map { String($0.output.1) }
        return ["README.md"] + Set(links).sorted()
    }

    private static func blocks(in pages: [String]) throws -> [Block] {
        try pages.flatMap { page in
            var lines = try readFile(page).split(separator: "\n", omittingEmptySubsequences: false)[...]
            var blocks: [Block] = []
            var comment = Substring()
            while let line = lines.popFirst() {
                defer { comment = line }
                guard line.hasPrefix("```") else { continue }
                let content = lines.prefix { !$0.hasPrefix("```") }
                lines = lines.dropFirst(content.count + 1)
                let marker = comment.wholeMatch(of: /<!-- ([a-z]+): *(.*) -->/)
                blocks.append(
                    Block(
                        page: page,
                        language: String(line.dropFirst(3)),
                        kind: String(marker?.output.1 ?? ""),
                        subject: String(marker?.output.2 ?? ""),
                        text: content.joined(separator: "\n")
                    )
                )
            }
            return blocks
        }
    }

    @Test func `README stays short enough for five minutes, and leads to every page of docs`() throws {
        #expect(try readFile("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 220)
        #expect(try Self.pages() == ["README.md"] + Self.names("docs/*.md"))
    }

    @Test func `a page of docs leads to every article of the libraries`() throws {
        let page = try readFile("docs/running.md")
        let articles = try Self.names("Sources/*/*.docc/*.md")
        #expect(articles.count > 20)
        for article in articles { #expect(page.contains("](../\(article)) |"), "\(article)") }
    }

    @Test func `CONTRIBUTING names every folder of sources, and no other`() throws {
        let named = try readFile("CONTRIBUTING.md").matches(of: #/`(Sources/[A-Za-z-]+)`/#).map { String($0.output.1) }
        #expect(try Set(named) == Set(Self.names("Sources/*")))
    }

    @Test func `a link to an article, in a comment or in an article, names one of the same library`() throws {
        let articles = try Self.names("Sources/*/*.docc/*.md")
        let links = try Self.lines(of: "grep -roE '<doc:[A-Za-z]+>' Sources")
        #expect(links.count > 20)
        for link in links {
            // A file, `<doc`, and a name with its bracket.
            let parts = link.split(separator: ":")
            let library = parts[0].split(separator: "/").prefix(2).joined(separator: "/")
            let name = try #require(parts.last).dropLast()
            #expect(articles.contains { $0.hasPrefix("\(library)/") && $0.hasSuffix("/\(name).md") }, "\(link)")
        }
    }

    /// The names that match a shell pattern, in order.
    private static func names(_ pattern: String) throws -> [String] { try lines(of: "ls -d \(pattern)").sorted() }

    /// What a command of the shell prints in the directory of the sources.
    private static func lines(of command: String) throws -> [String] {
        let workspace = try Workspace()
        return try withExtendedLifetime(workspace) {
            let listing = "\(workspace.path)/lines"
            #expect(shell("cd '\(FixturePlugins.root)' && \(command) > '\(listing)'") == 0)
            return try readFile(at: listing).split(separator: "\n").map(String.init)
        }
    }

    @Test func `every link of a page leads to a file, and to a heading in it`() throws {
        let others = "docs/*/*.md CONTRIBUTING.md SECURITY.md Examples/*.md */*/README.md"
        for page in try Self.pages() + Self.names(others) {
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

    @Test func `docs name every command of the program, and every command that they name exists`() async throws {
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
        let blocks = try Self.blocks(in: Self.pages()).filter { $0.kind == "file" }
        #expect(blocks.count >= 5)
        for block in blocks {
            var lines = try readFile(block.subject).split(separator: "\n", omittingEmptySubsequences: false)
            // A page needs no license header.
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

    @Test func `output in a page is what the program prints, except for the times`() async throws {
        let blocks = try Self.blocks(in: Self.pages()).filter { $0.kind == "output" }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let arguments = block.subject.split(separator: " ").map(String.init)
            let result = try await Program(directory: FixturePlugins.root).start(arguments).finish()
            #expect(Self.withoutTimes(result.output) == Self.withoutTimes(block.text + "\n"), "\(result.error)")
        }
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
    func `every gate of README's file is open in a runner, too, and status differs only in saying so`() async throws {
        var file = try #require(JSONValue(parsing: readFile("connectors.json")).object)
        file["$schema"] = nil
        file["plugins"] = [.string("\(FixturePlugins.root)/Plugins")]
        file["isolation"] = "process"
        let workspace = try Workspace()
        try workspace.write(JSONValue.object(file).serialized(pretty: true), to: "connectors.json")
        let isolated = try await workspace.program.run("status", "--simulate")
        let expected = try await Program(directory: FixturePlugins.root).start(["status", "--simulate"]).finish()
        #expect(isolated.status == 0, "\(isolated.error)")
        #expect(isolated.lines.count { $0.contains(" (in a runner)") } == 8, "\(isolated.output)")
        let lines = isolated.lines.filter { !$0.contains(" sandbox: ") }
        let text = lines.joined(separator: "\n").replacing(" (in a runner)", with: "")
        #expect(Self.withoutTimes(text) == Self.withoutTimes(expected.output))
    }

    @Test func `every complete configuration in a page, an article of DocC included, is valid`() async throws {
        let pages = try Self.pages() + Self.names("docs/adapters/*.md") + Self.names("Sources/*/*.docc/*.md")
        var count = 0
        for block in try Self.blocks(in: pages) where block.language == "json" {
            guard let configuration = Self.configuration(block.text) else { continue }
            count += 1
            let workspace = try Workspace()
            try workspace.write(configuration.serialized(pretty: true), to: "connectors.json")
            var program = workspace.program
            for variable in block.text.matches(of: /\$\{([A-Z_]+)/) {
                program.environment[String(variable.output.1)] = "https://key@example.com/1"
            }
            let output = try await program.run("validate", "--simulate", "--json").output
            // Plugins that exist only in the text, and one that has no simulator.
            let expected = [
                "there is no plugin \"theme\"", "there is no plugin \"notes\"", "there is no plugin \"pricing\"",
                "not opened: there is no simulator for the plugin poll, which would contact its real vendor",
            ]
            for error in try #require(JSONValue(parsing: output)["errors"]?.array) {
                #expect(expected.contains(error["message"]?.string ?? ""), "\(block.page): \(error)\n\(block.text)")
            }
        }
        #expect(count > 15)
    }

    /// The file that a block shows, or of which it shows the connectors; nil if it shows anything else.
    private static func configuration(_ text: String) -> JSONValue? {
        let text = text.replacing("[ … ]", with: "[]")
        // Connectors may stand side by side, without the brackets around them.
        guard let shown = (try? JSONValue(parsing: text)) ?? (try? JSONValue(parsing: "[\(text)]")) else { return nil }
        let connectors = shown.array ?? [shown]
        guard connectors.contains(where: { $0["plugin"] != nil || $0["connectors"] != nil }) else { return nil }
        return shown["version"] == 1 ? shown : ["version": 1, "connectors": .array(connectors)]
    }

    @Test func `the commands of the example without a plugin print what its README shows`() {
        let page = "'\(FixturePlugins.root)/scripts/run-page' Examples/Interface/README.md interface"
        #expect(shell("\(page) '\(Program.path)' > /dev/null") == 0)
    }

    /// A text without durations, and without the blanks that line them up.
    private static func withoutTimes(_ text: String) -> String {
        text.replacing(/[0-9.]+ (ms|s|µs)/, with: "TIME").replacing(#/ +/#, with: " ")
    }
}
