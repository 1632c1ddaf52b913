// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// What README shows is what there is.
@Suite struct ReadmeTests {
    /// A fenced block with the comment in front of it: `<!-- file: PATH -->` or `<!-- output: ARGUMENTS -->`.
    struct Block {
        var kind: String
        var subject: String
        var text: String
    }

    private static func blocks() throws -> [Block] {
        let lines = try readFile("README.md").split(separator: "\n", omittingEmptySubsequences: false)
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

    @Test func `code in README is a file of the examples, which are built and run`() throws {
        let blocks = try Self.blocks().filter { $0.kind == "file" }
        #expect(blocks.count >= 4)
        for block in blocks {
            var lines = try readFile(block.subject).split(separator: "\n", omittingEmptySubsequences: false)
            // README needs no licence header.
            if lines.first?.hasPrefix("//") == true { lines = Array(lines.drop { $0.hasPrefix("//") }.dropFirst()) }
            if lines.first?.hasPrefix("/*") == true { lines = Array(lines.drop { !$0.hasSuffix("*/") }.dropFirst()) }
            #expect(block.text + "\n" == lines.joined(separator: "\n"), "run: scripts/update-readme")
        }
    }

    @Test func `the plugin in C is built with the command in README, and greets`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "hello", "plugin": "hello"]], plugins: ["."])
        let root = FixturePlugins.root
        let compiler = "cc -std=c99 -fPIC -shared -fvisibility=hidden"
        let status = shell(
            "\(compiler) -I'\(root)/Sources/CConnector/include' '\(root)/Examples/hello/hello.c' -o '\(workspace.path)/libhello.so'"
        )
        #expect(status == 0)
        #expect(try await workspace.program.run("inspect", "libhello.so").status == 0)
        #expect(try await workspace.program.run("call", "hello", "greet", "Ada").output == "Hello, Ada\n")
        let refusal = try await workspace.program.run("call", "hello", "greet", "")
        #expect(refusal.status == 1)
        #expect(refusal.error.contains("a greeting needs a name"))
    }

    @Test func `output in README is what the program prints, but for the times`() async throws {
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
