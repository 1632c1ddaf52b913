// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct JSONLocatorTests {
    private static let text = Array(
        """
        { "a": 1,
          "bé": [ true, { "c,]}": "x\\"]}" , "d" : null }, -1.5e3 ],
          "\\u0065": { "f": {} }
        }
        """.utf8
    )

    private func find(_ path: JSONPath, _ part: JSONLocator.Part = .value) -> String {
        JSONLocator.position(of: path, part, in: Self.text).description
    }

    @Test func `values are found where they start`() {
        let root = JSONPath()
        let list = root.appending("bé")
        #expect(find(root) == "1:1")
        #expect(find(root.appending("a")) == "1:8")
        #expect(find(list) == "2:9")
        #expect(find(list.appending(0)) == "2:11")
        #expect(find(list.appending(1)) == "2:17")
        #expect(find(list.appending(1).appending("c,]}")) == "2:27")
        #expect(find(list.appending(1).appending("d")) == "2:43")
        #expect(find(list.appending(2)) == "2:51")
        #expect(find(root.appending("e").appending("f")) == "3:20")
    }

    @Test func `canonically equivalent names have positions of their own`() {
        let text = Array("{\"\u{E9}\": 1, \"e\u{301}\": 2}".utf8)
        for (name, column) in [("\u{E9}", 7), ("e\u{301}", 16)] {
            #expect(JSONLocator.position(of: JSONPath().appending(name), in: text).column == column)
        }
    }

    @Test func `names are found where they start`() {
        #expect(find(JSONPath().appending("bé"), .name) == "2:3")
        #expect(find(JSONPath().appending("bé").appending(1).appending("d"), .name) == "2:37")
        #expect(find(JSONPath().appending("e"), .name) == "3:3")
    }

    @Test func `a path to a missing value leads to the deepest value on the way`() {
        #expect(find(JSONPath().appending("zz")) == "1:1")
        #expect(find(JSONPath().appending("bé").appending(9)) == "2:9")
        #expect(find(JSONPath().appending("a").appending("x")) == "1:8")
        #expect(find(JSONPath().appending("a").appending(0), .name) == "1:8")
    }

    @Test(arguments: [
        "", "{", "{\"a", "{\"a\\", "{\"a\"", "{\"a\":", "[1,", "}", "{\"a\":}}}", "[[[", "\"", "{\"b\":\"", "{]",
    ])
    func `a broken text yields positions too`(text: String) {
        let bytes = Array(text.utf8)
        for path in [JSONPath().appending("a").appending("b"), JSONPath().appending(1).appending(0), JSONPath()] {
            #expect(JSONLocator.position(of: path, in: bytes).line == 1)
            #expect(JSONLocator.position(of: path, .name, in: bytes).column <= bytes.count + 1)
        }
    }

    @Test(arguments: [
        (0, "1:1"), (1, "1:2"), (3, "1:3"), (4, "2:1"), (5, "2:2"), (99, "2:2"), (-1, "1:1"),
    ])
    func `columns count characters, not bytes`(offset: Int, expected: String) {
        #expect(FilePosition(offset: offset, in: Array("aé\nb".utf8)).description == expected)
    }

    @Test func `a thousand positions cost little more than one`() {
        let count = 20_000
        let text = Array("[\((0..<count).map { #"{"n\#($0)": "é"}"# }.joined(separator: ","))]".utf8)
        var locator = JSONLocator(text)
        for index in stride(from: 0, to: count, by: 20) {
            let path = JSONPath().appending(index).appending("n\(index)")
            let position = locator.position(of: path)
            #expect(position.line == 1 && position == locator.position(of: path))
        }
        #expect(locator.steps < 2 * text.count)
    }

    @Test func `positions far into a long line count characters`() {
        let long = String(repeating: "é", count: 5000)
        let text = Array("{\"a\": \"\(long)\",\n\"b\": [\"\(long)\", 1]}".utf8)
        var locator = JSONLocator(text)
        let last = locator.position(of: JSONPath().appending("b").appending(1))
        #expect((last.line, last.column) == (2, 5011))
        #expect(locator.position(of: JSONPath().appending("a")).column == 7)
    }

    @Test func `paths read as in JavaScript`() {
        let path = JSONPath().appending("connectors").appending(0).appending("config")
        #expect(path.description == "connectors[0].config")
        #expect(path.parent.description == "connectors[0]")
        #expect(JSONPath().description == "." && JSONPath().parent == JSONPath())
    }
}
