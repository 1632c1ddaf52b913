// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorCapabilities
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Codable values, to JSON and back, compared with what Foundation's coders make of them.
@Suite struct JSONCodingTests {
    private struct Order: Codable, Hashable {
        enum State: String, Codable { case paid, open }
        struct Item: Codable, Hashable {
            var name: String
            var price: Double
            var count: UInt8?
        }

        var id: Int64
        var state: State
        var items: [Item]
        var weights: [Int: Float]
        var notes: [String: [Bool?]]
        var extra: JSONValue
        var nothing: String?
    }

    private static let order = Order(
        id: .min,
        state: .paid,
        items: [.init(name: "Tea \u{1F375}", price: 0.1, count: 3), .init(name: "", price: -1e300, count: nil)],
        weights: [7: 0.1, -1: .greatestFiniteMagnitude],
        notes: ["a": [true, nil, false], "b": []],
        extra: ["z": 1, "a": [1.5, nil, "x", true]],
        nothing: nil
    )

    private func refusal(_ body: () throws(ConnectorError) -> Void) throws -> ConnectorError {
        do throws(ConnectorError) {
            try body()
        } catch {
            return error
        }
        throw Unexpected()
    }

    private struct Unexpected: Error {}

    /// Two members whose names are canonically equivalent in Unicode, but not the same.
    private struct Twins: Codable, Hashable {
        private enum CodingKeys: String, CodingKey {
            case composed = "\u{E9}"
            case decomposed = "e\u{301}"
        }

        var composed: Int
        var decomposed: Int
    }

    @Test(arguments: [0, 20])
    func `members with canonically equivalent names are told apart`(others: Int) throws {
        let twins = Twins(composed: 1, decomposed: 2)
        var object = try JSONObject(encoding: twins)
        #expect(object.members.count == 2)
        for number in 0..<others { object["n\(number)"] = 0 }
        #expect(try object.decode(as: Twins.self) == twins)
    }

    @Test(arguments: ["9223372036854775808", "+9223372036854775808"])
    func `an integer in a string is read only in the form that the encoder writes`(text: String) {
        let number = try? JSONValue.string(text).decode(as: UInt64.self)
        #expect(number == (text == "9223372036854775808" ? 9_223_372_036_854_775_808 : nil))
    }

    // MARK: Compared with Foundation

    @Test func `a value survives a round trip`() throws {
        #expect(try JSONValue(encoding: Self.order).decode(as: Order.self) == Self.order)
    }

    @Test func `Foundation decodes what our encoder writes`() throws {
        let text = try JSONValue(encoding: Self.order).utf8()
        #expect(try JSONDecoder().decode(Order.self, from: Data(text)) == Self.order)
    }

    @Test func `our decoder reads what Foundation encodes`() throws {
        let text = try JSONEncoder().encode(Self.order)
        #expect(try JSONValue(parsing: Array(text)).decode(as: Order.self) == Self.order)
    }

    @Test func `the text is the same as Foundation's`() throws {
        let text = try JSONEncoder().encode(Self.order)
        #expect(try JSONValue(encoding: Self.order) == JSONValue(parsing: Array(text)))
    }

    @Test func `numbers at their limits are exact`() throws {
        func roundTrip<Value: Codable & Hashable>(_ values: [Value]) throws {
            #expect(try JSONValue(encoding: values).decode(as: [Value].self) == values)
        }
        try roundTrip([Int64.min, -1, 0, .max])
        try roundTrip([UInt64.min, 1 << 53 + 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
        try roundTrip([Int8.min, .max])
        try roundTrip([UInt.max])
        try roundTrip([Float.leastNonzeroMagnitude, 0.1, 16_777_216, .greatestFiniteMagnitude, -0.0])
        try roundTrip([Double.leastNonzeroMagnitude, 0.1, 0x1p53 + 2, .greatestFiniteMagnitude])
        #expect(try JSONValue(encoding: UInt64.max) == "18446744073709551615")
        #expect(try JSONValue(encoding: 0.1 as Float) == 0.1)
    }

    @Test func `members keep the order in which they are encoded`() throws {
        struct Pair: Encodable {
            var z = 1
            var a = 2
        }
        #expect(try JSONValue(encoding: Pair()).serialized() == #"{"z":1,"a":2}"#)
    }

    @Test func `JSON within a value is unchanged, even by Foundation's coders`() throws {
        let value: JSONValue = ["b": [nil, true, 1, 1.5, "x", ["c": []]], "a": 9_007_199_254_740_993]
        #expect(try JSONValue(encoding: [value]).serialized() == "[\(value.serialized())]")
        let text = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: text) == value)
    }

    @Test func `times are RFC 3339`() throws {
        let time = try #require(Timestamp(parsing: "2026-01-31T09:30:00.250Z"))
        let json = try JSONValue(encoding: ["at": time])
        #expect(json == ["at": "2026-01-31T09:30:00.250Z"])
        #expect(try json.decode(as: [String: Timestamp].self) == ["at": time])
        let error = try refusal { () throws(ConnectorError) in
            _ = try JSONValue.array(["noon"]).decode(as: [Timestamp].self)
        }
        #expect(error.message.hasSuffix("[0]: expected a time from 1970 to 2500, such as 2026-01-31T09:30:00Z"))
    }

    // MARK: Containers

    private class Base: Codable {
        var id = 1
        init() {}
    }

    private final class Derived: Base {
        enum Keys: CodingKey { case name, list, nested, pair, inner }
        var name = "d"
        var numbers: [Int] = [1, 2]

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            name = try container.decode(String.self, forKey: .name)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            numbers = []
            while !list.isAtEnd { numbers.append(try list.decode(Int.self)) }
            let nested = try container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            var pair = try nested.nestedUnkeyedContainer(forKey: .pair)
            let inner = try pair.nestedContainer(keyedBy: Keys.self)
            guard try inner.decodeNil(forKey: .inner), try pair.decodeNil(), pair.isAtEnd else { throw Unexpected() }
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            var pair = nested.nestedUnkeyedContainer(forKey: .pair)
            var inner = pair.nestedContainer(keyedBy: Keys.self)
            try super.encode(to: container.superEncoder())
            // Each container stays open while others are written.
            for number in numbers { try list.encode(number) }
            try pair.encodeNil()
            try inner.encodeNil(forKey: .inner)
            try container.encode(name, forKey: .name)
        }
    }

    @Test func `containers nest, stay open, and have room for a superclass`() throws {
        let json = try JSONValue(encoding: Derived())
        #expect(
            json == [
                "list": [1, 2], "nested": ["pair": [["inner": nil], nil]], "super": ["id": 1], "name": "d",
            ]
        )
        let derived = try json.decode(as: Derived.self)
        #expect(derived.name == "d" && derived.numbers == [1, 2] && derived.id == 1)
        let text = try JSONEncoder().encode(Derived())
        #expect(try JSONValue(parsing: Array(text)) == json)
    }

    // MARK: What does not fit

    @Test(arguments: [
        (#"{"id": 1}"#, "state: is missing"),
        (#"{"id": "1"}"#, "id: expected an integer, found a string"),
        (#"{"id": 1.5}"#, "id: 1.5 is not a whole number of at most 64 bits"),
        (#"{"id": null}"#, "id: expected an integer, found null"),
        (#"{"id": 1, "state": "lost"}"#, "state: Cannot initialize State from invalid String value lost"),
        (#"{"id": 1, "state": "open", "items": {}}"#, "items: expected an array, found an object"),
        (
            #"{"id": 1, "state": "open", "items": [{"name": "x", "price": 1, "count": 300}]}"#,
            "items[0].count: 300 does not fit UInt8"
        ),
        (#"{"id": 1, "state": "open", "items": [{"name": 5}]}"#, "items[0].name: expected a string, found an integer"),
        ("[]", "expected an object, found an array"),
    ])
    func `an error names the path of the value that does not fit`(text: String, expected: String) throws {
        let json = try JSONValue(parsing: text)
        let error = try refusal { () throws(ConnectorError) in _ = try json.decode(as: Order.self) }
        #expect(error.code == .invalid)
        #expect(error.message == "the JSON is not a valid Order: \(expected)")
    }

    @Test func `an integer that was rounded to a double is refused`() throws {
        let json = try JSONValue(parsing: "18446744073709551615")
        let error = try refusal { () throws(ConnectorError) in _ = try json.decode(as: UInt64.self) }
        #expect(
            error.message
                == "the JSON is not a valid UInt64: 1.8446744073709552e+19 is not a whole number of at most 64 bits"
        )
        #expect(throws: ConnectorError.self) { try JSONValue.string("12").decode(as: UInt64.self) }
        #expect(throws: ConnectorError.self) { try JSONValue.string("18446744073709551615").decode(as: Int64.self) }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a number that is not finite is refused`(number: Double) throws {
        let errors = try [
            refusal { () throws(ConnectorError) in _ = try JSONValue(encoding: ["a": [number]]) },
            refusal { () throws(ConnectorError) in _ = try JSONValue(encoding: ["a": [Float(number)]]) },
            refusal { () throws(ConnectorError) in _ = try JSONValue(encoding: ["a": [JSONValue.number(number)]]) },
        ]
        for error in errors {
            #expect(error.code == .invalid)
            #expect(error.message.hasSuffix("cannot be written as JSON: a[0]: \(number) is not a JSON number"))
        }
    }

    @Test func `a value that encodes nothing, or encodes twice, is refused`() throws {
        struct Nothing: Encodable {
            func encode(to encoder: any Encoder) {}
        }
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(1)
                try container.encode(2)
            }
        }
        let nothing = try refusal { () throws(ConnectorError) in _ = try JSONValue(encoding: Nothing()) }
        #expect(nothing.message == "Nothing cannot be written as JSON: writes nothing")
        #expect(try JSONValue(encoding: [Nothing()]) == [[:]])
        let twice = try refusal { () throws(ConnectorError) in _ = try JSONValue(encoding: [Twice()]) }
        #expect(twice.message.hasSuffix("[0]: writes two values of different form into one place"))
    }

    @Test func `a value that nests endlessly is refused`() throws {
        final class Ring: Encodable {
            enum Keys: CodingKey { case next }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(self, forKey: .next)
            }
        }
        let error = try refusal { () throws(ConnectorError) in _ = try JSONValue(encoding: Ring()) }
        #expect(error.message.hasSuffix("nests deeper than 128 levels"))
    }

    @Test func `only a value with members becomes an object`() throws {
        #expect(try JSONObject(encoding: ["a": 1]) == ["a": 1])
        let error = try refusal { () throws(ConnectorError) in _ = try JSONObject(encoding: [1]) }
        #expect(error.message == "Array<Int> becomes an array in JSON, and an object is needed")
        let record = DatabaseRecord(id: "1", data: ["name": "Ada"])
        #expect(try record.decode(as: [String: String].self) == ["name": "Ada"])
        #expect(try DatabasePage(records: [record, record]).decode(as: [String: String].self).count == 2)
    }

    @Test func `an error that the value itself throws becomes the cause`() throws {
        struct Picky: Decodable {
            init(from decoder: any Decoder) throws { throw Unexpected() }
        }
        let error = try refusal { () throws(ConnectorError) in _ = try JSONValue.null.decode(as: Picky.self) }
        #expect(error.message == "the JSON is not a valid Picky")
        #expect(error.cause == "Unexpected()")
    }
}
