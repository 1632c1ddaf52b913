// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// The members of objects, by name and in their order.
@Suite struct JSONObjectTests {
    @Test func `members keep their order, and a changed member keeps its place`() {
        var object = JSONObject([("b", 1), ("a", 2), ("b", 3)])
        #expect(object.names == ["b", "a"] && object["b"] == 3)
        object["c"] = 4
        object["b"] = nil
        object["x"] = nil
        object["a"] = 5
        #expect(object.names == ["a", "c"] && object["a"] == 5)
        #expect(!object.isEmpty && JSONObject().isEmpty)
    }

    @Test func `an object is shown as JSON`() {
        let object: JSONObject = ["title": "Milk", "count": [1, nil]]
        #expect("\(object)" == #"{"title":"Milk","count":[1,null]}"#)
    }

    @Test func `the order of members does not affect equality`() {
        let first: JSONObject = ["a": 1, "b": [2]]
        let second: JSONObject = ["b": [2], "a": 1]
        #expect(first == second && first.hashValue == second.hashValue)
        #expect(first != ["a": 1] && first != ["a": 1, "b": [3]] && first != ["a": 1, "c": [2]])
        #expect(JSONValue.array([1, 2]) != [2, 1])
    }

    @Test(.timeLimit(.minutes(1)), arguments: [17, 100_000]) func `objects with many members are equal in any order`(
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

    @Test(.timeLimit(.minutes(1))) func `each level of a deeply nested object is hashed only once`() {
        let value = (0..<64).reduce(JSONValue.null) { value, _ in ["a": value] }
        #expect(Set([value, value]).count == 1)
    }
}
