// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole

/// Styles inherit what they leave open.
@Suite
struct StyleTests {
    @Test func `a style takes what it leaves open from its parent, and from the parent's parent`() {
        let sheet = StyleSheet([
            "a": Style(colour: .red, isBold: true, gap: 1), "b": Style(parent: "a", colour: .green),
            "c": Style(parent: "b", isBold: false),
        ])
        #expect(sheet.resolved("c").colour == .green)
        #expect(sheet.resolved("c").isBold == false)
        #expect(sheet.resolved("c").gap == 1)
    }

    @Test func `a change of a parent reaches the styles that inherit from it`() {
        var sheet = StyleSheet.standard
        sheet[.text] = Style(gap: 5)
        #expect(sheet.resolved(.bad).gap == 5)
        #expect(sheet.resolved(.bad).colour == .red)
    }

    @Test func `cycles of parents end, and unknown names add nothing`() {
        let sheet = StyleSheet(["a": Style(parent: "b", isBold: true), "b": Style(parent: "a", isFaint: true)])
        #expect(sheet.resolved("a").isBold == true && sheet.resolved("a").isFaint == true)
        #expect(sheet.resolved("unknown") == Style())
    }
}
