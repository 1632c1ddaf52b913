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
            ("\u{E0041}", #""\udb40\udc41""#), (["\u{9D}": 1], #"{"\u009d":1}"#),
            ([], "[]"), ([:], "{}"), ([1, "x", [nil]], #"[1,"x",[null]]"#),
            (["b": 1, "a": ["c": 2]], #"{"b":1,"a":{"c":2}}"#),
        ] as [(JSONValue, String)]
    )
    func `values are written compactly, in their order`(value: JSONValue, expected: String) throws {
        #expect(value.description == expected)
        #expect(value.utf8() == Array(expected.utf8))
    }

    @Test func `a value is checked for what could not be read again`() throws {
        let value: JSONValue = ["a": [0.5, 1, nil, "x\(1)", true]]
        try value.checkReadable(3, named: "it")
        let deep = #expect(throws: ConnectorError.self) { try value.checkReadable(1, named: "it") }
        #expect(deep?.message == "it is nested deeper than 1 levels")
        for number in [Double.nan, .infinity, -.infinity] {
            let error = #expect(throws: ConnectorError.self) {
                try JSONValue.array([1, ["a": .number(number)]]).checkReadable(named: "it")
            }
            #expect(error?.code == .invalid && error?.message == "it has the number \(number), which JSON cannot write")
        }
    }

    @Test func `pretty output has lines and indentation`() {
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

    @Test func `no control character or bidirectional control is written raw`() {
        let every = String(String.UnicodeScalarView((UInt32(0)..<0x3000).compactMap(Unicode.Scalar.init)))
        for text in [JSONValue.string(every).serialized(), JSONValue.object([every: 1]).serialized(pretty: true)] {
            let raw = text.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
            #expect(raw.isEmpty)
            #expect(!text.unicodeScalars.contains { $0.properties.isBidiControl })
        }
    }

    @Test(arguments: 0..<20)
    func `a character is written the same way wherever it stands in a text`(place: Int) {
        let (before, after) = (String(repeating: "a", count: place), String(repeating: "z", count: 19 - place))
        for scalar in (UInt32(0)..<0x100).compactMap(Unicode.Scalar.init) {
            let alone = JSONValue.string(String(scalar)).serialized().dropFirst().dropLast()
            #expect(JSONValue.string("\(before)\(scalar)\(after)").serialized() == "\"\(before)\(alone)\(after)\"")
        }
    }

    @Test func `every character survives a round trip`() throws {
        for start in stride(from: UInt32(0), to: 0x11_0000, by: 97) {
            let text = String(String.UnicodeScalarView((start..<(start + 3)).compactMap(Unicode.Scalar.init)))
            let value: JSONValue = ["k\(text)": .string(text)]
            #expect(try JSONValue(parsing: value.description) == value)
        }
    }
}
