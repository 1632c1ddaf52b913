// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// ASCII characters that a neighbor hides from the standard library.
@Suite struct StringASCIITests {
    /// Hidden by what follows, or by what precedes it (rule GB9b of Unicode Standard Annex #29).
    @Test(arguments: ["/\u{301}", "\u{600}/", "/\u{FE0F}"])
    func `an ASCII character is found even if a neighbor merges with it`(_ hidden: String) {
        let text = "a\(hidden)b"
        #expect(!text.contains("/" as Character) && text.split(separator: "/").count == 1)
        #expect(text.contains(ascii: "/") && text.split(ascii: "/").count == 2)
        #expect(text.split(ascii: "/").joined(separator: "/") == text)
        #expect(text[...].split(ascii: "/").count == 2)
    }

    @Test func `splitting yields the parts that split does, and prefixes and substrings are found`() {
        #expect("/a//b/".split(ascii: "/") == ["a", "b"])
        #expect("/a//b/".split(ascii: "/", omittingEmptySubsequences: false) == ["", "a", "", "b", ""])
        #expect("a=b=c".split(ascii: "=", maxSplits: 1) == ["a", "b=c"])
        #expect("a?\u{301}b".prefix(before: "?") == "a" && "a".prefix(before: "?") == "a")
        #expect("Application/JSON ;\u{301}a=b".mediaType == "application/json")
        #expect("/\u{301}a".starts(ascii: "/") && !"a/".starts(ascii: "/") && !"".contains(ascii: "/"))
        #expect("$ORIGIN\u{301}".contains(ascii: "ORIGIN"))
    }

    @Test func `a pointer reaches a name that begins with a combining mark`() throws {
        let value: JSONValue = ["\u{301}a": ["~b": 1]]
        #expect(try #require(JSONPointer("/\u{301}a/~0b")).value(in: value) == 1)
    }
}
