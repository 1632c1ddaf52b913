// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@Suite struct JSONParserTests {
    @Test(
        arguments: [
            ("null", JSONValue.null), (" true ", true), ("\t\r\nfalse", false), ("0", 0), ("-0", 0), ("-12", -12),
            ("9223372036854775807", 9_223_372_036_854_775_807), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("1.0", .number(1)), ("1e2", .number(100)),
            ("1E+2", .number(100)), ("25e-2", .number(0.25)), ("-0.0", .number(-0.0)), ("1e-400", .number(0)),
            (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
            (#""\u00e9\u20AC\ud83d\ude00""#, "é€😀"),
            (#""é€😀\u0000""#, "é€😀\u{0}"), ("\"\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
            ("[]", []), ("[ ]", []), ("[1,[2],{}]", [1, [2], [:]]), ("{}", [:]), ("{ }", [:]),
            (#"{"a":1,"b":{"c":[null]}}"#, ["a": 1, "b": ["c": [nil]]]), (#"{"":0}"#, ["": 0]),
        ] as [(String, JSONValue)]
    )
    func `what the standard allows is read`(text: String, expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == expected)
    }

    @Test(arguments: [
        ("", "1:1: expected a value, found the end"), ("  ", "1:3: expected a value, found the end"),
        ("null null", "1:6: expected the end after the value"), ("1 2", "1:3: expected the end after the value"),
        ("01", "1:2: expected the end after the value"), ("-", "1:2: expected a digit, found the end"),
        ("1.", "1:3: expected a digit, found the end"), ("1.e2", "1:3: expected a digit, found 'e'"),
        ("1e", "1:3: expected a digit, found the end"), ("1e+-1", "1:4: expected a digit, found '-'"),
        ("0x1", "1:2: expected the end after the value"),
        ("[1e400]", "1:2: the number 1e400 is out of range"), ("[-1e400]", "1:2: the number -1e400 is out of range"),
        ("[", "1:2: expected a value, found the end"), ("[1", "1:3: expected ',' or ']' in an array, found the end"),
        ("[1}", "1:3: expected ',' or ']' in an array, found '}'"), ("]", "1:1: expected a value, found ']'"),
        ("{", "1:2: expected a name in double quotes, found the end"),
        (#"{"a"}"#, "1:5: expected ':' after the name \"a\", found '}'"),
        (#"{"a":}"#, "1:6: expected a value, found '}'"),
        ("{\"a\":1,\n \"a\":2}", "2:2: the name \"a\" occurs twice in this object"),
        (#"{"a":1,"\u0061":2}"#, "1:8: the name \"a\" occurs twice in this object"),
        ("\"", "1:1: the string that starts here does not end"), ("\"é\\", "1:3: the text ends inside an escape"),
        (#""\ud83d""#, "1:2: a high surrogate needs a low one"),
        (#""\ud83d\n""#, "1:2: a high surrogate needs a low one"),
        (#""\ud83d\ud83d""#, "1:2: a high surrogate needs a low one"),
        (#""\ude00""#, "1:2: a low surrogate needs a high one"),
        ("/ 1", "1:1: expected a value, found '/'"), ("é", "1:1: expected a value, found 'é' (U+00E9)"),
        ("\u{FEFF}1", "1:1: the text begins with a byte order mark; save it as UTF-8 without one"),
        ("\u{1}", "1:1: expected a value, found the control character U+0001"),
    ])
    func `anything else is refused with its position`(text: String, expected: String) {
        #expect {
            try JSONValue(parsing: text, file: "f")
        } throws: { error in
            "\(error)" == "f:\(expected) [syntax]"
        }
    }

    @Test(arguments: [
        ("# x\n1", "1:1: expected a value, found '#'"), ("// x\n1", "1:1: expected a value, found '/'"),
        ("1 // x", "1:3: expected the end after the value"),
        ("{/* x */}", "1:2: expected a name in double quotes, found '/'"),
        ("[1 // x\n]", "1:4: expected ',' or ']' in an array, found '/'"),
    ])
    func `a comment is refused with what to write in its place`(text: String, expected: String) {
        #expect {
            try JSONValue(parsing: text, file: "f")
        } throws: { error in
            "\(error)" == "f:\(expected) [syntax]; JSON has no comments: remove it, "
                + "or write a member \"$comment\" where the format skips those"
        }
    }

    @Test(arguments: [
        ("[1,]", "1:3: expected a value after this comma, found ']'", "remove the comma"),
        ("{\"a\":1,\n}", "1:7: expected a name in double quotes after this comma, found '}'", "remove the comma"),
        ("[1 2]", "1:4: expected ',' or ']' in an array, found '2'", "write a comma before it"),
        (#"{"a":1 "b":2}"#, "1:8: expected ',' or '}' in an object, found '\"'", "write a comma before it"),
        ("[01]", "1:3: expected ',' or ']' in an array, found '1'", "write the number without a leading zero"),
        ("+1", "1:1: expected a value, found '+'", "write the number without a plus sign"),
        (".5", "1:1: expected a value, found '.'", "write a digit before the decimal point, such as 0.5"),
        ("{a:1}", "1:2: expected a name in double quotes, found 'a'", "write the name in double quotes"),
        (
            "{'a':1}", "1:2: expected a name in double quotes, found '''",
            "write double quotes in place of the single ones"
        ),
        ("['a']", "1:2: expected a value, found '''", "write double quotes in place of the single ones"),
        (
            "[\u{201C}a\u{201D}]", "1:2: expected a value, found '\u{201C}' (U+201C)",
            "write straight double quotes (\") in place of the typographic ones"
        ),
        (
            "{\u{AB}a\u{BB}: 1}", "1:2: expected a name in double quotes, found '\u{AB}' (U+00AB)",
            "write straight double quotes (\") in place of the typographic ones"
        ),
        ("True", "1:1: expected a value, found 'T'", "write true"),
        ("off", "1:1: expected a value, found 'o'", "write false"),
        ("None", "1:1: expected a value, found 'N'", "write null"), ("nil", "1:2: expected null", "write null"),
        ("NaN", "1:1: expected a value, found 'N'", "JSON has no such number: write another one, or null"),
        ("nul", "1:4: expected null", "if it is a text, write it in double quotes"),
        ("nulL", "1:4: expected null", "write null"),
        (#""C:\plugins""#, "1:4: unknown escape \\p", #"write \\ for a backslash"#),
        (#""it\'s""#, "1:4: unknown escape \\'", "write ' without a backslash"),
        (#""C:\users""#, "1:6: expected four hexadecimal digits after \\u", #"write \\ for a backslash"#),
        (#""\u12""#, "1:6: expected four hexadecimal digits after \\u", #"write \\ for a backslash"#),
        ("\"a\nb\"", "1:3: a control character in a string must be escaped", #"write \n for a line break"#),
        ("\"\u{0}\"", "1:2: a control character in a string must be escaped", #"write \u0000"#),
    ])
    func `what other languages allow is refused with what to write in its place`(
        text: String,
        expected: String,
        fix: String
    ) {
        #expect {
            try JSONValue(parsing: text, file: "f")
        } throws: { error in
            "\(error)" == "f:\(expected) [syntax]; \(fix)"
        }
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x7B, 0, 0x7D, 0], "UTF-16"), ([0xFE, 0xFF, 0, 0x7B, 0, 0x7D], "UTF-16"),
            ([0x7B, 0, 0x7D, 0], "UTF-16"), ([0, 0x7B, 0, 0x7D], "UTF-16"),
            ([0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0], "UTF-32"), ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x7B], "UTF-32"),
            ([0x7B, 0, 0, 0, 0x7D, 0, 0, 0], "UTF-32"), ([0, 0, 0, 0x7B, 0, 0, 0, 0x7D], "UTF-32"),
        ] as [([UInt8], String)]
    )
    func `a text in another encoding is refused with the name of the encoding`(text: [UInt8], encoding: String) {
        #expect {
            try JSONValue(parsing: text, file: "f")
        } throws: { error in
            "\(error)" == "f:1:1: the text is \(encoding); save it as UTF-8 without a byte order mark [syntax]"
        }
    }

    @Test(
        arguments: [[0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0xFF]]
            as [[UInt8]]
    )
    func `strings must be UTF-8`(bytes: [UInt8]) {
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: [0x22, 0x5C, 0x6E] + bytes + [0x22]) }
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: bytes) }
    }

    @Test func `nesting is bounded`() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(JSONParser.depthLimit, "[", "]")) }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(JSONParser.depthLimit, "{\"a\":", "}")) }
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: nested(JSONParser.depthLimit + 1, "[", "]")) }
        let document = JSONParser.documentDepthLimit
        #expect(throws: Never.self) { try JSONValue(document: Array(nested(document, "[", "]").utf8)) }
        #expect(throws: ConnectorError.self) { try JSONValue(document: Array(nested(document + 1, "[", "]").utf8)) }
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: nested(100_000, "[", "]")) }
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: String(repeating: "{\"a\":[", count: 100_000)) }
        // Siblings do not count towards the depth.
        let wide = "[" + Array(repeating: "[]", count: 1000).joined(separator: ",") + "]"
        #expect(try JSONValue(parsing: wide).array?.count == 1000)
    }

    @Test func `the size is bounded`() {
        let text = [UInt8](repeating: 0x20, count: JSONParser.sizeLimit + 1)
        #expect {
            try JSONValue(parsing: text)
        } throws: { error in
            (error as? ConnectorError)?.message == "the text is longer than 64 MiB"
        }
    }

    @Test(arguments: [1, 15, 16, 17, 40])
    func `a duplicate name is refused among few members and among many`(count: Int) throws {
        let members = (0..<count).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        #expect(try JSONValue(parsing: "{\(members)}").object?.members.count == count)
        for twice in [0, count / 2, count - 1] {
            #expect(throws: ConnectorError.self) { try JSONValue(parsing: "{\(members),\"n\(twice)\":0}") }
        }
    }

    @Test(arguments: [0, 20])
    func `canonically equivalent names are two names`(count: Int) throws {
        let others = (0..<count).map { ",\"n\($0)\":0" }.joined()
        let object = try #require(JSONValue(parsing: #"{"\u00e9":1,"e\u0301":2\#(others)}"#).object)
        #expect(object.members.count == count + 2 && object["\u{E9}"] == 1 && object["e\u{301}"] == 2)
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: #"{"\u00e9":1,"é":2\#(others)}"#) }
    }

    // Quadratic work would take many minutes.
    @Test(.timeLimit(.minutes(1)))
    func `canonically equivalent names take time in proportion to their number`() throws {
        let names = (0..<20_000).map { number in
            (0..<15).map { number >> $0 & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
        }
        let members = names.map { "\"\($0)\":0" }.joined(separator: ",")
        let object = try #require(JSONValue(parsing: "{\(members)}").object)
        let isSame = object == object
        #expect(object.members.count == names.count && isSame)
        let isBuiltAlike = JSONObject(names.map { ($0, JSONValue.integer(0)) }) == object
        #expect(isBuiltAlike)
        #expect(throws: ConnectorError.self) { try JSONValue(parsing: "{\(members),\"\(names[77])\":0}") }
    }

    @Test func `canonically equivalent texts are not equal`() {
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect((["\u{E9}": 1] as JSONObject) != ["e\u{301}": 1])
        #expect(JSONObject.Member(name: "\u{E9}", value: 1) != .init(name: "e\u{301}", value: 1))
        #expect(Set(["\u{E9}", "e\u{301}", "\u{E9}", 1, 1.0] as [JSONValue]).count == 4)
    }

    @Test(arguments: [3, 20])
    func `a repeated name keeps its first place and its last value`(count: Int) {
        let object = JSONObject((0..<count * 2).map { ("n\($0 % count)", .integer(Int64($0))) })
        #expect(object.names == (0..<count).map { "n\($0)" })
        #expect(object.members.map(\.value) == (count..<count * 2).map { .integer(Int64($0)) })
    }

    @Test func `accessors return a value only as a kind that fits it`() {
        let value: JSONValue = ["i": 1, "n": 1.5, "w": 2.0, "s": "t", "b": true, "a": [1], "o": [:], "0": nil]
        #expect(value["i"]?.integer == 1 && value["i"]?.number == 1 && value["n"]?.number == 1.5)
        #expect(value["n"]?.integer == nil && value["w"]?.integer == 2)
        #expect(JSONValue.number(1e300).integer == nil && JSONValue.number(-0x1p63).integer == nil)
        #expect(value["s"]?.string == "t" && value["s"]?.integer == nil && value["s"]?["x"] == nil)
        #expect(value["b"]?.bool == true && value["a"]?.array == [1] && value["o"]?.object?.isEmpty == true)
        #expect(value["a"]?[0] == 1 && value["a"]?[1] == nil && value["a"]?[-1] == nil && value["o"]?[0] == nil)
        #expect(value["0"] == .null && value["x"] == nil)
        let kinds = value.object?.members.map(\.value.kind)
        #expect(
            kinds == ["an integer", "a number", "a number", "a string", "a boolean", "an array", "an object", "null"]
        )
    }
}
