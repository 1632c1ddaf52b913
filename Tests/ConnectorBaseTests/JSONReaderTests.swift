// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// Reading the members of objects, with errors that say where they are.
@Suite struct JSONReaderTests {
    private func reader(_ text: String) throws -> (JSONReader, JSONObject) {
        let value = try JSONValue(parsing: text)
        return (JSONReader(text: Array(text.utf8), file: "f"), try #require(value.object))
    }

    @Test func `problems with wrong members are collected, and right members are still read`() throws {
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

    @Test(arguments: ["18446744073709551616", "1e30", "-1e30"])
    func `an integer that no type can hold is outside the bounds, and no number of another kind`(text: String) throws {
        var (reader, object) = try reader(#"{"i": \#(text)}"#)
        #expect(reader.integer("i", in: object, at: JSONPath(), within: 1...5) == nil)
        let number = try #require(Double(text))
        #expect(reader.problems.map(\.description) == ["f:1:7: i is \(number), outside 1 to 5 [invalid-value]"])
        object["i"] = 1.5
        #expect(reader.integer("i", in: object, at: JSONPath(), within: 1...5) == nil)
        #expect(reader.problems.last?.message == "i must be an integer, not a number")
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

    @Test func `the number of reported problems is limited`() throws {
        var (reader, _) = try reader("{}")
        for _ in 0..<(2 * JSONReader.problemLimit) { reader.report(.syntax, "x", at: JSONPath()) }
        #expect(reader.problems.count == JSONReader.problemLimit)
    }
}
