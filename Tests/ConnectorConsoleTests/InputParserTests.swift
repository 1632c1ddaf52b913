// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsoleTerminal

/// What terminals send.
@Suite
struct InputParserTests {
    private static let inputs: [(String, [TerminalInput])] = [
        ("a", [.key(.character("a"))]),
        ("é漢🚀", [.key(.character("é")), .key(.character("漢")), .key(.character("🚀"))]),
        ("\u{1B}[A\u{1B}OB", [.key(.up), .key(.down)]),
        ("\u{1B}[H\u{1B}[4~\u{1B}[5~\u{1B}[6~", [.key(.home), .key(.end), .key(.pageUp), .key(.pageDown)]),
        ("\u{1B}[1;5C", [.key(.right)]),
        ("\u{1B}[Z\t\r\u{7F}\u{3}", [.key(.backTab), .key(.tab), .key(.enter), .key(.backspace), .key(.control("c"))]),
        ("\u{1B}[<0;10;5M\u{1B}[<0;10;5m", [.click(column: 9, line: 4)]),
        ("\u{1B}[<64;1;1M\u{1B}[<65;1;1M", [.wheel(-1), .wheel(1)]),
        ("\u{1B}[200~a\u{1B}[31m\nb\u{1B}[201~c", [.paste("a\u{1B}[31m\nb"), .key(.character("c"))]),
        ("\u{1B}\u{1B}[A", [.key(.escape), .key(.up)]),
        ("\u{1B}[M !!q", [.key(.character("q"))]),
        // F1 and F4 of the Linux console.
        ("\u{1B}[[A\u{1B}[[Dq", [.key(.character("q"))]),
        ("\u{1B}[99;99~\u{1B}[?1;2cx", [.key(.character("x"))]),
        ("\u{1B}[<0;0;0M\u{1B}[<0;1M\u{1B}[<9999999999999999999;1;1M", []),
    ]

    @Test func `keys, mouse events and pasted text are read however their bytes are split`() {
        for (text, expected) in Self.inputs {
            for size in 1...8 {
                var parser = InputParser()
                var inputs: [TerminalInput] = []
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    inputs += parser.feed(rest.prefix(size))
                    rest = rest.dropFirst(size)
                }
                #expect(inputs == expected, "\(text.debugDescription) by \(size)")
                #expect(parser.patience == nil)
            }
        }
    }

    @Test func `a lone Escape is a key once nothing follows`() {
        var parser = InputParser()
        #expect(parser.feed([0x1B]).isEmpty && parser.patience != nil)
        #expect(parser.flush() == [.key(.escape)])
        #expect(parser.flush().isEmpty && parser.patience == nil)
    }

    @Test func `a paste that lacks its end mark ends after a silence, and keys work again`() {
        var parser = InputParser()
        #expect(parser.feed(Array("\u{1B}[200~é\u{1B}[2".utf8)).isEmpty)
        // The rest may still be on its way, and would be mistaken for keys.
        #expect(parser.patience ?? 0 >= 1000)
        #expect(parser.flush() == [.paste("é\u{1B}[2")])
        #expect(parser.patience == nil && parser.feed([3]) == [.key(.control("c"))])
        #expect(parser.feed(Array("\u{1B}[200~".utf8)).isEmpty && parser.flush() == [.paste("")])
    }

    @Test func `a paste fills a field up to its limit, and no character is cut in two`() {
        let texts = [
            String(repeating: "x", count: 6000), "x" + String(repeating: "é", count: LineEditor.limit),
            String(repeating: "ab\r\n", count: 5000), String(repeating: "ab\r\n", count: 8000),
        ]
        for text in texts {
            var parser = InputParser()
            var inputs: [TerminalInput] = []
            var rest = Array("\u{1B}[200~\(text)\u{1B}[201~".utf8)[...]
            while !rest.isEmpty {
                inputs += parser.feed(rest.prefix(4096))
                rest = rest.dropFirst(4096)
            }
            guard case .paste(let pasted)? = inputs.first, inputs.count == 1 else {
                Issue.record("\(inputs.count) inputs")
                continue
            }
            var line = LineEditor()
            let isWhole = line.insert(pasted)
            let field = String(text.map { $0.isNewline ? " " : $0 })
            #expect(isWhole == (field.utf8.count <= LineEditor.limit))
            #expect(line.text == field.prefix(line.text.count))
            #expect(line.text.utf8.count > min(field.utf8.count, LineEditor.limit) - 2)
        }
    }

    @Test func `the parser survives arbitrary bytes and gives up on an overlong sequence`() {
        var state: UInt64 = 5
        var parser = InputParser()
        for _ in 0..<100_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            _ = parser.feed([state >> 60 < 3 ? 0x1B : UInt8(truncatingIfNeeded: state >> 40)])
        }
        _ = parser.feed(Array("\u{1B}[201~".utf8))
        _ = parser.flush()
        #expect(parser.feed(Array("\u{1B}[201~x".utf8)).last == .key(.character("x")))
        _ = parser.feed(Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: "1"), count: 1000))
        #expect(parser.feed(Array("q".utf8)).last == .key(.character("q")))
    }
}
