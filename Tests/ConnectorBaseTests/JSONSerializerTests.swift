// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct JSONSerializerTests {
    @Test(
        arguments: [
            (.null, "null"), (true, "true"), (-5, "-5"), (.integer(.min), "-9223372036854775808"), (0.1, "0.1"),
            (.number(1e100), "1e+100"), (.number(.infinity), "null"), (.number(.nan), "null"),
            ("a\"\\\n\r\t\u{0}\u{1f}/é😀\u{7f}", #""a\"\\\n\r\t\u0000\u001f/é😀\u007f""#),
            ("\u{80}\u{9B}31m\u{9F}\u{A0}", #""\u0080\u009b31m\u009f"# + "\u{A0}\""),
            ("a\u{202E}b\u{2066}c\u{200F}\u{61C}\u{2028}", #""a\u202eb\u2066c\u200f\u061c\u2028""#),
            (["\u{9D}": 1], #"{"\u009d":1}"#),
            ([], "[]"), ([:], "{}"), ([1, "x", [nil]], #"[1,"x",[null]]"#),
            (["b": 1, "a": ["c": 2]], #"{"b":1,"a":{"c":2}}"#),
        ] as [(JSONValue, String)]
    )
    func `values are written compactly, in their order`(value: JSONValue, expected: String) throws {
        #expect(value.description == expected)
        #expect(value.utf8() == Array(expected.utf8))
    }

    @Test func `people get lines and indentation`() {
        let value: JSONValue = ["a": [], "b": [:], "c": [1, ["d": "e"]]]
        let expected = """
            {
              "a": [],
              "b": {},
              "c": [
                1,
                {
                  "d": "e"
                }
              ]
            }
            """
        #expect(value.serialized(pretty: true) == expected)
    }

    @Test func `no character that steers a display is written raw`() {
        let every = String(String.UnicodeScalarView((UInt32(0)..<0x3000).compactMap(Unicode.Scalar.init)))
        for text in [JSONValue.string(every).serialized(), JSONValue.object([every: 1]).serialized(pretty: true)] {
            let raw = text.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
            #expect(raw.isEmpty)
            #expect(!text.unicodeScalars.contains { $0.properties.isBidiControl })
        }
    }

    @Test(arguments: 0..<20)
    func `a character is written alike wherever it stands in a text`(place: Int) {
        let (before, after) = (String(repeating: "a", count: place), String(repeating: "z", count: 19 - place))
        for scalar in (UInt32(0)..<0x100).compactMap(Unicode.Scalar.init) {
            let alone = JSONValue.string(String(scalar)).serialized().dropFirst().dropLast()
            #expect(JSONValue.string("\(before)\(scalar)\(after)").serialized() == "\"\(before)\(alone)\(after)\"")
        }
    }

    @Test func `every character survives`() throws {
        for start in stride(from: UInt32(0), to: 0x11_0000, by: 97) {
            let text = String(String.UnicodeScalarView((start..<(start + 3)).compactMap(Unicode.Scalar.init)))
            let value: JSONValue = ["k\(text)": .string(text)]
            #expect(try JSONValue(parsing: value.description) == value)
        }
    }
}

@Suite struct JSONObjectTests {
    @Test func `members keep their order and their place`() {
        var object = JSONObject([("b", 1), ("a", 2), ("b", 3)])
        #expect(object.names == ["b", "a"] && object["b"] == 3)
        object["c"] = 4
        object["b"] = nil
        object["x"] = nil
        object["a"] = 5
        #expect(object.names == ["a", "c"] && object["a"] == 5)
        #expect(!object.isEmpty && JSONObject().isEmpty)
    }

    @Test func `the order means nothing for equality`() {
        let first: JSONObject = ["a": 1, "b": [2]]
        let second: JSONObject = ["b": [2], "a": 1]
        #expect(first == second && first.hashValue == second.hashValue)
        #expect(first != ["a": 1] && first != ["a": 1, "b": [3]] && first != ["a": 1, "c": [2]])
        #expect(JSONValue.array([1, 2]) != [2, 1])
    }

    @Test(.timeLimit(.minutes(1)), arguments: [17, 100_000]) func `many members are compared in any order`(
        _ count: Int
    ) {
        let members = (0..<count).map { JSONObject.Member(name: "n\($0)", value: .integer(Int64($0))) }
        let object = JSONObject(unique: members)
        let reversed = JSONObject(unique: members.reversed())
        #expect(object == reversed && object.hashValue == reversed.hashValue)
        for other in [JSONObject.Member(name: "n0", value: nil), JSONObject.Member(name: "other", value: 0)] {
            #expect(object != JSONObject(unique: members.dropFirst() + [other]))
        }
    }

    @Test(.timeLimit(.minutes(1))) func `deeply nested objects are hashed once`() {
        let value = (0..<64).reduce(JSONValue.null) { value, _ in ["a": value] }
        #expect(Set([value, value]).count == 1)
    }
}
