// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsoleTerminal

/// The screen, and what is sent to change it.
@Suite
struct ScreenTests {
    @Test(
        arguments: [
            "\u{1B}[2J\u{1B}]0;title\u{7}", "\u{9B}31m", "a\rb\nc\td", "\u{8}\u{7F}\u{0}", "\u{202E}drow", "\u{2028}",
            "\u{85}\u{90}payload\u{9C}",
        ]
    )
    func `no text reaches the terminal as a control sequence`(text: String) {
        for isUnicode in [true, false] {
            var canvas = Canvas(width: 80, height: 1, isUnicode: isUnicode)
            canvas.write(text, CellAttributes(), line: 0, column: 0, width: 80)
            let bytes = ScreenWriter.difference(from: canvas.empty, to: canvas)
            var terminal = Terminal(width: 80, height: 1)
            terminal.feed(bytes)
            #expect(terminal.unknown.isEmpty)
            #expect(terminal.lines == [canvas.text(ofLine: 0)])
            if !isUnicode { #expect(bytes.allSatisfy { $0 < 0x80 }) }
        }
    }

    @Test func `text without room is left out, and no wide character is halved`() {
        var canvas = Canvas(width: 6, height: 2, isUnicode: true)
        #expect(canvas.write("漢漢漢", CellAttributes(), line: 0, column: 1, width: 9) == 4)
        #expect(canvas.text(ofLine: 0) == " 漢漢")
        #expect(canvas.write("abc", CellAttributes(), line: 5, column: 0, width: 3) == 0)
        #expect(canvas.write("abc", CellAttributes(), line: 0, column: -1, width: 3) == 0)
        canvas.fill(CellAttributes(isReversed: true), line: 1, column: 4, width: 99)
        canvas.fill(CellAttributes(), line: 1, column: 99, width: 1)
        #expect(canvas[1, 5].attributes.isReversed && !canvas[1, 3].attributes.isReversed)
    }

    @Test func `an invisible character is made visible, and a pile of marks is cut`() {
        var canvas = Canvas(width: 12, height: 2, isUnicode: true)
        // A mark without a letter, and a letter with too many.
        let marks = "\u{301}b" + "c" + String(repeating: "\u{301}", count: 500)
        canvas.write(marks, CellAttributes(), line: 0, column: 0, width: 12)
        #expect(canvas.text(ofLine: 0).hasPrefix("\u{FFFD}b"))
        #expect(canvas[0, 2].text.unicodeScalars.count == 8)
        canvas.write("a\u{200B}b", CellAttributes(), line: 1, column: 0, width: 12)
        #expect(canvas.text(ofLine: 1) == #"a\u{200b}b"#)
    }

    @Test func `an unchanged screen costs nothing, and one changed character costs little`() {
        var old = Canvas(width: 200, height: 60, isUnicode: true)
        for line in 0..<60 {
            old.write(String(repeating: "x", count: 200), CellAttributes(), line: line, column: 0, width: 200)
        }
        #expect(ScreenWriter.difference(from: old, to: old).isEmpty)
        var new = old
        new.write("y", CellAttributes(), line: 30, column: 100, width: 1)
        #expect(ScreenWriter.difference(from: old, to: new).count < 50)
        #expect(ScreenWriter.difference(from: nil, to: old).count < 200 * 60 + 1000)
    }

    /// Whatever width the terminal gives to characters on which terminals differ.
    @Test(arguments: [1, 2, 4])
    func `a terminal shows the screen after any number of differences`(uncertain: Int) {
        var state: UInt64 = 11
        func next(_ bound: UInt64) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % bound)
        }
        let texts = ["hello", "漢字かな", "e\u{301}é", "👩‍👩‍👧", "🇩🇪🇫🇷", "│─└ ✓", "    ", "x", "\u{2764}\u{FE0F}!"]
        var terminal = Terminal(width: 24, height: 4, uncertain: uncertain)
        var old: Canvas?
        for _ in 0..<400 {
            var new =
                next(3) == 0
                ? Canvas(width: 24, height: 4, isUnicode: true) : old ?? Canvas(width: 24, height: 4, isUnicode: true)
            for _ in 0..<next(6) {
                let attributes = CellAttributes(colour: next(2) == 0 ? 31 : nil, isBold: next(2) == 0)
                new.write(texts[next(UInt64(texts.count))], attributes, line: next(4), column: next(24), width: 24)
            }
            terminal.feed(ScreenWriter.difference(from: old, to: new))
            #expect(terminal.unknown.isEmpty)
            for line in 0..<4 {
                for column in 0..<24 where new[line, column].isCertain && !new.isBehindUncertain(line, column) {
                    #expect(terminal[line, column] == new[line, column].text, "line \(line), column \(column)")
                }
            }
            old = new
        }
    }
}

extension Canvas {
    /// An empty canvas of the same size.
    fileprivate var empty: Canvas { Canvas(width: width, height: height, isUnicode: true) }

    /// Whether a column is the second half of a character whose width is not certain.
    fileprivate func isBehindUncertain(_ line: Int, _ column: Int) -> Bool {
        column > 0 && self[line, column].text.isEmpty && !self[line, column - 1].isCertain
    }
}
