// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorTestSupport
import Testing

/// Where objects lie in a text.
@Suite struct JSONObjectSlicesTests {
    /// The objects as values, made from the places that were found; nil if none were.
    private func values(_ text: [UInt8]) throws -> [JSONValue]? {
        guard let slices = JSONObjectSlices(array: text.span) else { return nil }
        return try slices.objects.map { object in
            let members = try slices.members[object.members].map { member in
                (String(decoding: text[member.name], as: UTF8.self), try JSONValue(parsing: Array(text[member.value])))
            }
            let value = JSONValue.object(JSONObject(members))
            #expect(try JSONValue(parsing: Array(text[object.range])) == value)
            return value
        }
    }

    @Test(arguments: [
        "[]", " [ ] ", "[{}]", #"[{"a":1},{"b":[1,-2.5,{"c":null}],"d":"é\n\u00e9"}]"#,
        " [ { \"a\" : { \"a\" : { \"a\" : [ true , false ] } , \"b\" : 0 } , \"b\" : \"\\\\\" } , { } ] ",
    ])
    func `objects and members are found`(_ text: String) throws {
        #expect(try values(Array(text.utf8)).map(JSONValue.array) == JSONValue(parsing: text))
    }

    @Test(arguments: [
        "", "{}", "[", "[{}", "[{},]", "[{}]x", "[1]", "[[]]", "[null]", #"[{"a":1,"a":2}]"#, #"[{"b":{"a":1,"a":2}}]"#,
        #"[{"a"}]"#, #"[{"a":}]"#, #"[{"a":01}]"#, #"[{"a":1.}]"#, #"[{"a":-}]"#, #"[{"a":1,}]"#, #"[{a:1}]"#,
        #"[{"a":"\x"}]"#, #"[{"a":"\u12"}]"#, #"[{"a":"\ud800"}]"#, "[{\"a\":\"\n\"}]", #"[{"a":tru}]"#, #"[{"a":"}]"#,
    ])
    func `a text that is not a valid array of objects yields no slices`(_ text: String) throws {
        #expect(try values(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        #"[{"\u0061":1}]"#, #"[{"a":1e3}]"#, #"[{"a":"\ud83d\ude00"}]"#,
        "[{\"a\":\(String(repeating: "[", count: 90))\(String(repeating: "]", count: 90))}]",
        "[{\((0...64).map { "\"a\($0)\":0" }.joined(separator: ","))}]",
    ])
    func `rare forms are left to the parser`(_ text: String) throws {
        #expect(try values(Array(text.utf8)) == nil)
        _ = try JSONValue(parsing: text)
    }

    @Test func `a text that is not UTF-8 yields no slices`() throws {
        #expect(try values(Array("[{\"a\":\"".utf8) + [0xC3, 0x28] + Array("\"}]".utf8)) == nil)
    }

    @Test(arguments: [
        ("{}", true), (#" {"a":[1,{"b":null}]} "#, true), ("", false), (" ", false), ("{},{}", false), ("{}]", false),
        (#"{"a":1"#, false), ("[]", false), ("1", false),
    ])
    func `one object is told from what would change an array`(_ text: String, _ isObject: Bool) {
        let bytes = Array(text.utf8)
        let found = JSONObjectSlices.isObject(bytes.span)
        #expect(found == isObject)
    }

    @Test(arguments: 0..<20)
    func `a byte ends, breaks or continues a string alike wherever it stands`(place: Int) throws {
        let (before, after) = (String(repeating: "a", count: place), String(repeating: "z", count: 19 - place))
        for scalar in (UInt32(0)..<0x80).compactMap(Unicode.Scalar.init) {
            let text = Array("[{\"a\":\"\(before)\(scalar)\(after)\"}]".utf8)
            #expect(try values(text).map(JSONValue.array) == (try? JSONValue(parsing: text)))
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `whatever objects are found in a damaged text, the parser finds too`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let text = Array(
            #"[{"type":"track","n":[1,-2.5,true],"o":{"a":{"b":"c\n"},"d":null}},{"x":"\u00e9 é","y":{}},{"z":"\\"}]"#
                .utf8
        )
        var found = 0
        for _ in 0..<2000 {
            let mutated = random.mutate(text)
            guard let values = try values(mutated) else { continue }
            found += 1
            #expect(try JSONValue(parsing: mutated) == .array(values))
        }
        #expect(found > 20)
    }
}
