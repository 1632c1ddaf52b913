// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorHostCommands

/// How text for people looks, and what may not reach their terminal.
@Suite struct TextStyleTests {
    @Test(arguments: [
        (["LANG": "en_US.UTF-8"], true), (["LANG": "C.utf8"], true), (["LC_ALL": "C", "LANG": "en_US.UTF-8"], false),
        (["LC_ALL": "", "LC_CTYPE": "de_DE.UTF-8", "LANG": "C"], true), (["LANG": "de_DE.ISO-8859-1"], false),
        ([:], false),
    ])
    func `the locale decides whether more than ASCII is printed`(variables: [String: String], isUnicode: Bool) {
        let style = TextStyle.detected(for: .output, environment: Configuration.Environment(variables))
        #expect(style.isUnicode == isUnicode)
    }

    @Test(arguments: [
        "❤\u{FE0F}", "☎\u{FE0E}", "1\u{FE0F}\u{20E3}", "👩🏽\u{200D}💻", "❤\u{FE0F}\u{200D}🔥", "🏳\u{FE0F}\u{200D}🌈",
        "葛\u{E0100}", "神\u{FE00}",
        "می\u{200C}خواهم", "ക്\u{200D}", "ᠠ\u{180E}ᠠ",
    ])
    func `what joins characters, or selects their form, stays`(text: String) {
        #expect(TextStyle(isColoured: false, isUnicode: true).shown(text) == text)
    }

    @Test(
        arguments: [
            0x34F, 0x115F, 0x1160, 0x17B4, 0x180B, 0x180E, 0x200C, 0x200D, 0x206A, 0x3164, 0xFE00, 0xFE0E, 0xFE0F,
            0xFFA0, 0x1BCA0, 0x1D173,
            0xE0001, 0xE0041, 0xE007F, 0xE0100, 0xE0FFF,
        ] as [UInt32]
    )
    func `a character without a glyph is escaped where it shapes nothing`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let style = TextStyle(isColoured: false, isUnicode: true)
        let escape = "\\u{\(String(value, radix: 16))}"
        for (before, after) in [("", ""), ("a", "b"), ("1", ""), ("é", "я"), ("я", ""), ("가", "가"), ("\u{200B}", "👩")] {
            let shown = style.shown("\(before)\(scalar)\(after)")
            #expect(shown == style.shown(before) + escape + after, "\(before) \(after)")
        }
        let twice = style.shown("👩\(scalar)\(scalar)💻")
        #expect(twice.hasSuffix("\(escape)💻"), "\(twice)")
    }

    @Test func `characters that could control a terminal are escaped`() {
        let style = TextStyle(isColoured: true, isUnicode: true)
        #expect(style.shown("red \u{1B}[31m") == "red \\u{1b}[31m")
        #expect(style.shown("a\u{7}b\u{9B}c\u{7F}") == "a\\u{7}b\\u{9b}c\\u{7f}")
        #expect(style.shown("file\u{202E}gpj.exe") == "file\\u{202e}gpj.exe")
        #expect(style.shown("a\u{200F}b\u{61C}c\u{2028}d") == "a\\u{200f}b\\u{61c}c\\u{2028}d")
        #expect(style.shown("connectors\u{200B} a\u{AD}b") == "connectors\\u{200b} a\\u{ad}b")
        #expect(style.shown("a\u{2060}b\u{FEFF}") == "a\\u{2060}b\\u{feff}")
        #expect(style.shown("one\ntwo\tthree") == "one two three")
        #expect(style.shown("Größe 10 µs ✓") == "Größe 10 µs ✓")
    }

    @Test func `neither what another server answers nor a report for a build server steers a display`() throws {
        let faults = FaultsDocument(json: ["faults": [["fault": "\u{1B}]0;x\u{7}"]]])
        #expect(faults.lines(TextStyle()) == ["\\u{1b}]0;x\\u{7}"])
        var result = ConformanceReport.Result(try #require(PluginConformance.Rule.all.first), .broken)
        result.got = ["a\u{202E}b\u{85}c <\n&>"]
        let report = ConformanceReport(
            path: "a",
            plugin: nil,
            sha256: nil,
            seed: 1,
            strict: 1,
            results: [result],
            duration: .zero
        )
        let junit = ConformanceDocument(report: report, again: [], command: "a", failure: nil).junit
        #expect(junit.contains("\ngot: a\\u{202e}b\\u{85}c &lt; &amp;&gt;\n"), "\(junit)")
    }

    @Test func `rules that do not apply are not counted among those that were to be kept`() throws {
        let theme = try #require(PluginConformance.Rule.all.first?.theme)
        let rules = PluginConformance.Rule.all.filter { $0.theme == theme }
        try #require(rules.count > 2)
        let report = ConformanceReport(
            path: "a",
            plugin: nil,
            sha256: nil,
            seed: 1,
            strict: 1,
            results: [
                ConformanceReport.Result(rules[0], .kept), ConformanceReport.Result(rules[1], .inapplicable("")),
                ConformanceReport.Result(rules[2], .inapplicable("")),
            ],
            duration: .zero
        )
        let document = ConformanceDocument(report: report, again: [], command: "a", failure: nil)
        let lines = document.lines(TextStyle(isColoured: false, isUnicode: true))
        #expect(lines.first == "✓ \(theme.rawValue)  1 kept, 2 not applicable")
    }

    @Test func `without UTF-8 everything is ASCII`() {
        let style = TextStyle(isColoured: false, isUnicode: false)
        #expect(style.shown("10 µs … ok — “Ada” 日本") == "10 us ... ok - \"Ada\" ??")
        for mark in [TextStyle.Mark.good, .bad, .warning, .none] {
            #expect(style.sign(mark).utf8.allSatisfy { $0 < 0x80 })
        }
    }

    @Test func `the columns of a table line up, however wide a terminal shows characters`() {
        var table = Table()
        table.append(["東京", "a"])
        table.append(["Zu\u{308}rich", "b"])
        #expect(table.lines(TextStyle()) == ["東京    a", "Zu\u{308}rich  b"])
    }

    @Test func `colour is only painted where it is wanted`() {
        #expect(TextStyle(isColoured: false, isUnicode: true).paint("x", .good) == "x")
        #expect(TextStyle(isColoured: true, isUnicode: true).paint("x", .good) == "\u{1B}[32mx\u{1B}[0m")
        #expect(TextStyle(isColoured: true, isUnicode: true).paint("", .good) == "")
    }

    @Test func `a terminal gets colour, unless NO_COLOR or its kind forbids it`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))]])
        var program = workspace.program
        program.isOnTerminal = true
        program.environment["TERM"] = "xterm"
        #expect(try await program.run("status").output.contains("\u{1B}[32m✓ \u{1B}[0m"))
        program.environment["NO_COLOR"] = "1"
        #expect(try await !program.run("status").output.contains("\u{1B}"))
        program.environment["NO_COLOR"] = nil
        program.environment["TERM"] = "dumb"
        #expect(try await !program.run("status").output.contains("\u{1B}"))
        program.isOnTerminal = false
        program.environment["TERM"] = "xterm"
        #expect(try await !program.run("status").output.contains("\u{1B}"))
    }

    @Test func `the tree is drawn in ASCII where the locale has nothing else`() async throws {
        let workspace = try Workspace()
        try workspace.configure([
            [
                "name": "tools",
                "connectors": [["name": "calculator", "plugin": .string(FixturePlugins.good("sync"))]],
            ]
        ])
        var program = workspace.program
        program.environment["LANG"] = "C"
        let result = try await program.run("status")
        #expect(result.output.utf8.allSatisfy { $0 < 0x80 })
        #expect(result.lines[0].hasPrefix("+ tools"))
        #expect(result.lines[1].hasPrefix("`- + calculator"))
    }
}
