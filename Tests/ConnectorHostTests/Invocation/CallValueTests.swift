// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// Arguments and results of the application's own types.
@Suite(.timeLimit(.minutes(10))) struct CallValueTests {
    @Test func `arguments and results may be of the application's own types`() async throws {
        struct Note: Codable, Equatable {
            var title: String
            var tags: [String]
        }
        struct Arguments: Encodable {
            var value: Note
        }
        let test = try await TestHost.opened()
        let gate = try test.host.gate("gate")
        let note = Note(title: "Milk", tags: ["home"])
        #expect(try await gate.call("answer", Arguments(value: note), as: Note.self) == note)
        #expect(try await gate.call("answer", ["value": ["title": "Milk", "tags": ["home"]]], as: Note.self) == note)
        #expect(try await gate.call("answer", JSONValue(encoding: note), as: Note.self) == note)
        #expect(try await gate.call("answer", "one", as: String.self) == "one")
        let error = try await failure { () throws(ConnectorError) in
            try await gate.call("answer", ["value": ["title": 1]], as: Note.self)
        }
        #expect(
            error.description
                == "gate: the JSON is not a valid Note: title: expected a string, found an integer [invalid]"
        )
        let wrong = try await failure { () throws(ConnectorError) in
            try await gate.call("answer", [1], as: Note.self)
        }
        #expect(wrong.description == "gate: Array<Int> becomes an array in JSON, and an object is needed [invalid]")
    }

    @Test(arguments: ValueType.allCases)
    func `a number is what its JSON would be, and is left to JSON where it does not fit`(type: ValueType) {
        let integers: [Int64] = [
            0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 65536, 1 << 31, 1 << 32, .min, .max,
        ]
        for integer in integers {
            let json = try? CallValue(.integer(integer), as: type, handles: nil)
            for value in [integer, Int(integer)] as [any OperationValue] {
                #expect(CallValue(number: value, as: type) == (type.isScalar ? json : nil), "\(integer)")
            }
        }
        for number in [0, -0.0, 0.5, 1, 1e300, .infinity, .nan] as [Double] {
            let json = try? CallValue(.number(number), as: type, handles: nil)
            #expect(CallValue(number: number, as: type) == (type == .f64 ? json : nil), "\(number)")
        }
        #expect(CallValue(number: JSONValue.integer(1), as: type) == nil)
    }

    @Test func `a number that JSON cannot represent is refused at any depth`() throws {
        for number in [Double.nan, .infinity, -.infinity] {
            let values: [JSONValue] = [.number(number), [1, .number(number)], ["a": [["b": .number(number)]]]]
            for value in values {
                let error = #expect(throws: ConnectorError.self) { try CallValue(value, as: .json, handles: nil) }
                #expect(error?.code == .invalid)
                #expect(error?.message == "the value has the number \(number), which JSON cannot write")
            }
        }
        let value = try CallValue(["a": [0.5, 1, nil, "x", true]], as: .json, handles: nil)
        #expect(value == .bytes(Array(#"{"a":[0.5,1,null,"x",true]}"#.utf8)))
    }

    @Test func `an operation can be named with its capability`() async throws {
        let test = try await TestHost.opened()
        #expect(try await test.call("gate", "calls/answer", ["value": 3]) == 3)
    }
}
