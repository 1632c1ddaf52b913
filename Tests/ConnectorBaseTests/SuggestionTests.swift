// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("pluign", "did you mean \"plugin\"?"), ("Plugin", "did you mean \"plugin\"?"),
        ("plugi", "did you mean \"plugin\"?"),
        ("pluginn", "did you mean \"plugin\"?"), ("connector", "did you mean \"connectors\"?"),
        ("nmae", "did you mean \"name\"?"),
        ("n", "known: name, plugin, connectors"), ("xyz", "known: name, plugin, connectors"),
        ("", "known: name, plugin, connectors"),
    ])
    func `the likely name is suggested, otherwise the known names are listed`(name: String, expected: String) {
        #expect(suggestion(for: name, among: ["name", "plugin", "connectors"]) == expected)
    }

    @Test func `a name that is known twice is listed once`() {
        #expect(suggestion(for: "xyz", among: ["get", "flush", "get", "flush"]) == "known: get, flush")
    }

    @Test func `too many names, or none, are not listed`() {
        #expect(suggestion(for: "x", among: []) == nil)
        #expect(suggestion(for: "zzzzzz", among: (0..<13).map { "known\($0)" }) == nil)
    }

    @Test func `only some of very many names are compared`() {
        var read = 0
        let names = (0..<1_000_000).lazy.map { number -> String in
            read += 1
            return "name\(number)"
        }
        #expect(suggestion(for: "nmae7", among: names) == "did you mean \"name7\"?")
        #expect(read <= 10_000 && read > 0)
    }

    @Test func `a long text is cut in the middle`() {
        #expect("short".excerpt == "short")
        let long = String(repeating: "a", count: 1 << 20) + "b"
        #expect(long.excerpt.count == 99 && long.excerpt.hasSuffix("ab") && long.excerpt.contains("a…a"))
        // A single character may be as long as the text.
        let tower = "e" + String(repeating: "\u{301}", count: 1 << 20)
        #expect(tower.excerpt.utf8.count < 250)
    }

    @Test func `a very long name resembles no other`() {
        let long = String(repeating: "a", count: 100_000)
        #expect(suggestion(for: long, among: ["a"]) == "known: a")
        #expect(!isMisspelling(long, of: long + "b"))
    }

    @Test(arguments: [
        ("ab", "ba", true), ("timeout", "timout", true), ("probe", "prove", true), ("retry", "plugin", false),
    ])
    func `letters may be swapped, lost, added or mistaken`(name: String, known: String, expected: Bool) {
        #expect(isMisspelling(name, of: known) == expected)
    }
}
