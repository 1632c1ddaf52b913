// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct QueryItemsTests {
    @Test(arguments: [
        ("a%20b", "a b"), ("100%", "100%"), ("%zz", "%zz"), ("%C3%A9", "é"), ("%ff", "\u{FFFD}"), ("%4", "%4"),
    ])
    func `escapes are decoded and anything else is kept`(encoded: String, decoded: String) {
        #expect(PercentCoding.decode(encoded) == decoded)
    }

    @Test func `a query keeps order and repetition`() {
        let query = QueryItems(parsing: "b=1&a=x+y&b=2&&flag&c=%3D")
        #expect(query.items.map(\.name) == ["b", "a", "b", "flag", "c"])
        #expect(query["a"] == "x y")
        #expect(query["flag"] == "")
        #expect(query["c"] == "=")
        #expect(query.encoded == "b=1&a=x%20y&b=2&flag=&c=%3D")
    }

    @Test func `a query is written after a path, without the items that have no value`() {
        var query = QueryItems()
        query.append("a", nil)
        #expect(query.appended(to: "/x") == "/x")
        query.append("b&", "é =")
        query.append("c", "")
        #expect(query.appended(to: "/x") == "/x?b%26=%C3%A9%20%3D&c=")
    }

    @Test(arguments: [("a%20b", "a b"), ("%C3%A9", "é"), ("100%", nil), ("%zz", nil), ("%ff", nil)])
    func `a strict reader accepts nothing but percent-encoded UTF-8`(encoded: String, text: String?) {
        #expect(PercentCoding.text(encoded) == text)
    }

    @Test func `malformed items are omitted on request, and they count towards the limit`() {
        let text = "a=1&b=%ff&%zz=2&c=3&d=4"
        #expect(QueryItems(parsing: text, malformed: .omitted).items.map(\.name) == ["a", "c", "d"])
        #expect(QueryItems(parsing: text, malformed: .omitted, limit: 4).items.map(\.name) == ["a", "c"])
        #expect(QueryItems(parsing: text)["%zz"] == "2")
    }
}
