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

    @Test func `names that are only equivalent in Unicode have places of their own`() {
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

    @Test func `a path that ends early leads to the deepest value on the way`() {
        #expect(find(JSONPath().appending("zz")) == "1:1")
        #expect(find(JSONPath().appending("bé").appending(9)) == "2:9")
        #expect(find(JSONPath().appending("a").appending("x")) == "1:8")
        #expect(find(JSONPath().appending("a").appending(0), .name) == "1:8")
    }

    @Test(arguments: [
        "", "{", "{\"a", "{\"a\\", "{\"a\"", "{\"a\":", "[1,", "}", "{\"a\":}}}", "[[[", "\"", "{\"b\":\"", "{]",
    ])
    func `a broken text has places too`(text: String) {
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

@Suite struct JSONReaderTests {
    private func reader(_ text: String) throws -> (JSONReader, JSONObject) {
        let value = try JSONValue(parsing: text)
        return (JSONReader(text: Array(text.utf8), file: "f"), try #require(value.object))
    }

    @Test func `wrong members are collected, and right ones read`() throws {
        var (reader, object) = try reader(
            #"{"s": "t", "i": 5, "b": true, "l": ["x", 1], "o": {"k": 1}, "$c": 0, "zz": 0}"#
        )
        let root = JSONPath()
        _ = reader.members(of: .object(object), at: root, allowed: ["s", "i", "b", "l", "o", "zzz"])
        #expect(reader.string("s", in: object, at: root) == "t")
        #expect(reader.string("i", in: object, at: root) == nil)
        #expect(reader.string("none", in: object, at: root) == nil)
        #expect(reader.string("none", in: object, at: root, required: true) == nil)
        #expect(reader.bool("b", in: object, at: root) == true)
        #expect(reader.integer("i", in: object, at: root, within: 1...5) == 5)
        #expect(reader.integer("i", in: object, at: root, within: 1...4) == nil)
        #expect(reader.strings("l", in: object, at: root) == ["x"])
        #expect(reader.object("o", in: object, at: root)?["k"] == 1)
        #expect(reader.members(of: 5, at: root.appending("i"), allowed: []) == nil)
        #expect(
            reader.problems.map(\.description) == [
                #"f:1:70: unknown key "zz" [unknown-key]; did you mean "zzz"?"#,
                "f:1:17: i must be a string, not an integer [wrong-type]",
                "f:1:1: none is missing; it must be a string [missing-value]",
                "f:1:17: i is 5, outside 1 to 4 [invalid-value]",
                "f:1:42: l[1] must be a string, not an integer [wrong-type]",
                "f:1:17: i must be an object, not an integer [wrong-type]",
            ]
        )
    }

    @Test func `problems name the connector, and paths start at its object`() throws {
        var (reader, object) = try reader(#"{"list": [{"s": 1}]}"#)
        reader.connector = "a/b"
        reader.origin = JSONPath().appending("list").appending(0)
        let inner = try #require(object["list"]?[0]?.object)
        _ = reader.string("s", in: inner, at: reader.origin)
        #expect(reader.problems.map(\.description) == ["f:1:17: a/b: s must be a string, not an integer [wrong-type]"])
        #expect(reader.name(of: JSONPath().appending("other")) == "other")
    }

    @Test func `there is a limit to what is reported`() throws {
        var (reader, _) = try reader("{}")
        for _ in 0..<(2 * JSONReader.problemLimit) { reader.report(.syntax, "x", at: JSONPath()) }
        #expect(reader.problems.count == JSONReader.problemLimit)
    }
}
