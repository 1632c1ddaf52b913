// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorBase

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

    /// Members of an object that count how often one is read.
    private struct CountedMembers: RandomAccessCollection {
        final class Counter {
            var reads = 0
        }

        let members: [JSONObject.Member]
        let counter = Counter()
        var startIndex: Int { members.startIndex }
        var endIndex: Int { members.endIndex }

        subscript(position: Int) -> JSONObject.Member {
            counter.reads += 1
            return members[position]
        }
    }

    @Test func `collecting and finding names reads each member at most a few times`() {
        let count = 2000
        let names = (0..<count).map { "n\($0)" }
        let members = CountedMembers(members: names.map { JSONObject.Member(name: $0, value: .null) })
        var index = MemberIndex()
        let areNew = names.indices.allSatisfy { index.claim(names[$0], among: members.prefix($0)) == nil }
        let areKnown = names.indices.allSatisfy { index.claim(names[$0], among: members) == $0 }
        let areFound = names.indices.allSatisfy { index.position(of: names[$0], among: members) == $0 }
        let other = index.position(of: "other", among: members)
        #expect(areNew && areKnown && areFound && other == nil)
        #expect(members.counter.reads <= 2 * count)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [15, 16, 17, 100_000])
    func `an object that is built member by member is the same as one from a list`(_ count: Int) throws {
        var object = JSONObject()
        for number in 0..<count { object["n\(number)"] = .integer(Int64(number)) }
        let members = (0..<count).map { JSONObject.Member(name: "n\($0)", value: .integer(Int64($0))) }
        #expect(object.members == members && object == JSONObject(unique: members))
        #expect(object["n\(count - 1)"] == .integer(Int64(count - 1)))
        #expect(object["n\(count)"] == nil)
        let parsed = try #require(try JSONValue(parsing: object.description).object)
        #expect(parsed == object && parsed["n14"] == 14)
    }

    @Test(arguments: [3, 40]) func `a member that is set, removed and set again is found where it is`(_ count: Int) {
        var object = JSONObject((0..<count).map { ("n\($0)", JSONValue.integer(Int64($0))) })
        let before = object
        object["n0"] = "first"
        #expect(object.members[0] == JSONObject.Member(name: "n0", value: "first") && object.members.count == count)
        object["n1"] = nil
        #expect(object["n1"] == nil && object["n2"] == 2 && object.members[1].name == "n2")
        object["n1"] = 7
        #expect(object.members[count - 1] == JSONObject.Member(name: "n1", value: 7) && object["n2"] == 2)
        object["n1"] = nil
        #expect(object["n1"] == nil && object.members.count == count - 1)
        object["e\u{301}"] = 1
        object["\u{E9}"] = 2
        #expect(object["e\u{301}"] == 1 && object["\u{E9}"] == 2 && object.members.count == count + 1)
        #expect(before["n0"] == 0 && before["n1"] == 1 && before.members.count == count)
    }

    @Test(.timeLimit(.minutes(1))) func `each level of a deeply nested object is hashed only once`() {
        let value = (0..<64).reduce(JSONValue.null) { value, _ in ["a": value] }
        #expect(Set([value, value]).count == 1)
    }
}
