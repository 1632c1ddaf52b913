// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// Characters of ASCII that others hide from the standard library.
@Suite struct StringASCIITests {
    /// After it, and before it (GB9b of Unicode's annex 29).
    @Test(arguments: ["/\u{301}", "\u{600}/", "/\u{FE0F}"])
    func `what is beside a character does not hide it`(_ hidden: String) {
        let text = "a\(hidden)b"
        #expect(!text.contains("/" as Character) && text.split(separator: "/").count == 1)
        #expect(text.contains(ascii: "/") && text.split(ascii: "/").count == 2)
        #expect(text.split(ascii: "/").joined(separator: "/") == text)
        #expect(text[...].split(ascii: "/").count == 2)
    }

    @Test func `parts are those of split, and a beginning is one`() {
        #expect("/a//b/".split(ascii: "/") == ["a", "b"])
        #expect("/a//b/".split(ascii: "/", omittingEmptySubsequences: false) == ["", "a", "", "b", ""])
        #expect("/\u{301}a".starts(ascii: "/") && !"a/".starts(ascii: "/") && !"".contains(ascii: "/"))
        #expect("$ORIGIN\u{301}".contains(ascii: "ORIGIN"))
    }

    @Test func `a pointer to a name that begins with a combining mark leads there`() throws {
        let value: JSONValue = ["\u{301}a": ["~b": 1]]
        #expect(try #require(JSONPointer("/\u{301}a/~0b")).value(in: value) == 1)
    }
}
