// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// What fields of a configuration accept.
@Suite struct ConfigurationFieldTests {
    private func field(_ text: String) throws -> ConfigurationField {
        var object = try #require(try JSONValue(parsing: completeManifest).object)
        object["egress"] = []
        object["configuration"] = ["field": try JSONValue(parsing: text)]
        return try #require(try Manifest(parsing: JSONValue.object(object).utf8()).configuration.first)
    }

    @Test(
        arguments: [
            (#"{"type": "string"}"#, ["", "x"], [1, true, nil, []]),
            (#"{"type": "integer"}"#, [1, -1, 2.0], [1.5, "1", true, nil]),
            (#"{"type": "number"}"#, [1, 1.5], ["1", false]),
            (#"{"type": "boolean"}"#, [true, false], ["true", 1, 0]),
            (#"{"type": "url"}"#, ["http://x", "https://x/y"], ["x", "ftp://x", 1, ""]),
            (#"{"type": "duration"}"#, ["5s", "0ms"], ["5", 5, ""]),
            (#"{"type": "path"}"#, ["a", "../a b", "/a"], ["", "a\u{0}b", 1, nil]),
            (#"{"type": "json"}"#, [nil, 1, [], [:], "x"], []),
            (#"{"type": "integer", "minimum": 1, "maximum": 3}"#, [1, 3], [0, 4, "1"]),
            (#"{"type": "number", "minimum": 0.5}"#, [0.5, 9], [0.4, -1]),
            (#"{"values": ["a", "b"]}"#, ["a", "b"], ["c", "", 1]),
            (#"{"type": "number", "values": [1, 2.5]}"#, [1, 1.0, 2.5], [2, 3]),
        ] as [(String, [JSONValue], [JSONValue])]
    )
    func `a field accepts fitting values, and objects to others`(text: String, good: [JSONValue], bad: [JSONValue])
        throws
    {
        let field = try field(text)
        #expect(good.allSatisfy { field.problem(with: $0) == nil })
        #expect(bad.allSatisfy { field.problem(with: $0)?.hasPrefix("must be") ?? false })
    }

    @Test(
        arguments: [#"{"type": "number", "maximum": 1000}"#, #"{"type": "json"}"#],
        [Double.nan, .infinity, -.infinity]
    )
    func `a number that JSON cannot write is refused, also inside of a value`(text: String, number: Double) throws {
        let field = try field(text)
        let problem = "has the number \(number), which JSON cannot write"
        #expect(field.problem(with: .number(number)) == problem)
        guard field.type == .json else { return }
        #expect(field.problem(with: ["x": [1, .number(number)]]) == problem)
    }

    @Test func `a value that a plugin could not parse is refused`() throws {
        var value: JSONValue = []
        for _ in 1..<(JSONParser.depthLimit - 1) { value = [value] }
        let field = try field(#"{"type": "json"}"#)
        #expect(field.problem(with: value) == nil)
        #expect(field.problem(with: [value]) == "must not be nested deeper than \(JSONParser.depthLimit - 1) levels")
    }
}
