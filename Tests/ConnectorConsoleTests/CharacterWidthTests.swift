// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsoleTerminal

/// How many columns characters take.
@Suite
struct CharacterWidthTests {
    @Test(
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("ß", 1), ("漢", 2), ("カ", 2), ("ｶ", 1), ("Ａ", 2), ("한", 2), ("│", 1),
            ("✓", 1),
            ("🚀", 2), ("⌚", 2), ("\u{2764}\u{FE0F}", 2), ("\u{2764}", 1), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("\u{200B}", 0),
            ("\u{301}", 0),
            ("ก", 1), ("กำ", 1), ("𠀀", 2), ("\u{AD}", 1),
        ] as [(Character, Int)]
    )
    func `a character takes as many columns as Unicode says`(character: Character, columns: Int) {
        #expect(CharacterWidth.columns(of: character) == columns)
    }

    @Test func `the width of a letter with marks is certain, that of an emoji sequence is not`() {
        for character in ["a", "e\u{301}", "漢", "🚀"] as [Character] { #expect(CharacterWidth.isCertain(character)) }
        for character in ["👩‍👩‍👧", "🇩🇪", "\u{2764}\u{FE0F}", "👍🏽"] as [Character] {
            #expect(!CharacterWidth.isCertain(character))
        }
    }

    @Test func `the widest columns of a table give way first`() {
        #expect(ColumnWidths.fitted([10, 40, 8], into: 80, gap: 2) == [10, 40, 8])
        #expect(ColumnWidths.fitted([10, 40, 8], into: 42, gap: 2) == [10, 20, 8])
        #expect(ColumnWidths.fitted([30, 40, 0], into: 42, gap: 2) == [20, 20, 0])
        #expect(ColumnWidths.fitted([6, 6, 6], into: 10, gap: 2) == [6, 2, 0])
        #expect(ColumnWidths.fitted([], into: 10, gap: 2) == [])
        #expect(ColumnWidths.fitted([5], into: 0, gap: 2) == [0])
    }
}
