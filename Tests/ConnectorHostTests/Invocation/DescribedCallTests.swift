// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Values of every type on their way through libffi, right ones and wrong ones.
@Suite(.timeLimit(.minutes(10))) struct DescribedCallTests {
    private func opened() async throws -> TestHost {
        let test = try TestHost(TestHost.leaf("gate", plugin: "values"))
        #expect(await test.host.open().isReady)
        return test
    }

    private func error(
        _ test: TestHost,
        _ operation: String,
        _ arguments: JSONObject,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ConnectorError {
        try await failure(
            { () throws(ConnectorError) in try await test.call("gate", operation, arguments) },
            sourceLocation: sourceLocation
        )
    }

    // MARK: Right values

    static let highest: JSONObject = [
        "a": 127, "b": 32767, "c": 2_147_483_647, "d": 9_223_372_036_854_775_807, "e": 255, "f": 65535,
        "g": 4_294_967_295, "h": "18446744073709551615", "i": 3.4028234663852886e38, "j": 1.7976931348623157e308,
    ]
    static let lowest: JSONObject = [
        "a": -128, "b": -32768, "c": -2_147_483_648, "d": .integer(.min), "e": 0, "f": 0, "g": 0, "h": 0,
        "i": -3.4028234663852886e38, "j": -1.7976931348623157e308,
    ]
    static let tiny: JSONObject = [
        "a": 1, "b": -1, "c": 1.0, "d": -1, "e": 1, "f": 1, "g": 1, "h": 9_223_372_036_854_775_807,
        "i": .number(Double(Float.leastNonzeroMagnitude)),
        "j": .number(.leastNonzeroMagnitude),
    ]

    @Test(arguments: [highest, lowest, tiny])
    func `numbers of every type cross the line exactly`(_ numbers: JSONObject) async throws {
        let test = try await opened()
        let answer = try #require(try await test.call("gate", "numbers", numbers).object)
        #expect(answer.names == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map { "\($0)2" })
        for (name, value) in numbers.members.map({ ($0.name, $0.value) }) {
            let result = try #require(answer["\(name)2"])
            switch name {
            case "h": #expect(result == value)
            case "i": #expect(result.number.map { Float($0) } == value.number.map { Float($0) })
            default: #expect(result.number == value.number)
            }
        }
    }

    @Test(
        arguments: [
            ([:], "----"), (["a": -7], "a---"), (["b": 0.5], "-b--"), (["c": ""], "--0-"), (["c": "x"], "--c-"),
            (["a": nil, "b": nil, "c": nil, "d": nil], "----"), (["a": -7, "b": 0.5, "c": "x"], "abc-"),
        ] as [(JSONObject, JSONValue)]
    )
    func `optional values may be absent, and an empty text is not absent`(_ given: JSONObject, _ seen: JSONValue)
        async throws
    {
        let test = try await opened()
        #expect(try await test.call("gate", "maybe", given) == seen)
    }

    @Test func `texts are UTF-8 of any length, NUL included`() async throws {
        let test = try await opened()
        for text in ["", "a", "caf\u{e9} \u{1F30D}", "a\u{0}b", String(repeating: "x", count: 100_000)] {
            #expect(try await test.call("gate", "count", ["text": .string(text)]) == .integer(Int64(text.utf8.count)))
        }
        #expect(try await test.call("gate", "text", ["which": "nul"]) == "a\u{0}b")
        #expect(try await test.call("gate", "text", ["which": "nothing"]) == "")
    }

    @Test func `a cstring ends with NUL, and must not contain one`() async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "cut", ["text": "caf\u{e9}"]) == 5)
        #expect(try await test.call("gate", "cut", ["text": ""]) == 0)
        let error = try await error(test, "cut", ["text": "a\u{0}b"])
        #expect(error.code == .invalid)
        #expect(error.message == "cut, text: a cstring must not contain NUL")
    }

    @Test func `bytes are base64 or a text, and come back as base64`() async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "reverse", ["data": ["base64": "AAH/"]]) == ["base64": "/wEA"])
        #expect(try await test.call("gate", "reverse", ["data": "abc"]) == ["base64": "Y2Jh"])
        #expect(try await test.call("gate", "reverse", ["data": ""]) == ["base64": ""])
        #expect(try await test.call("gate", "sum", ["data": ["base64": "AAH/"]]) == 256)
        #expect(try await test.call("gate", "say", ["data": "by completion"]) == "by completion")
    }

    @Test func `several owned results of a call are all given back`() async throws {
        let test = try await opened()
        // Others use the image too: what is given back only ever grows. Twice would be a double free, which ends the process.
        let before = try await test.call("gate", "released").integer ?? 0
        for index in 0..<10 {
            let value: JSONValue = ["n": .integer(Int64(index))]
            let answer = try await test.call("gate", "pair", ["data": value])
            #expect(answer == ["first": value, "second": .string(value.description)])
        }
        #expect(try await test.call("gate", "released").integer ?? 0 >= before + 20)
    }

    @Test func `a buffer of the caller is filled up to its size`() async throws {
        let test = try await opened()
        let size = Int64(CallFrame.bufferSize)
        for length in [0, 1, size] {
            let answer = try await test.call("gate", "fill", ["length": .integer(length)])
            #expect(answer["into"]?.string?.utf8.count == Int(length))
            #expect(answer["result"] == .integer(size))
        }
        let error = try await error(test, "fill", ["length": .integer(size + 1)])
        #expect(error.code == .tooLarge)
        #expect(error.message == "the buffer is too small")
    }

    @Test func `an error without a message about a buffer that is too small has both sizes`() async throws {
        let test = try await opened()
        let gate = try test.host.gate("gate")
        let named = try await error(test, "spill", ["length": 1_000_000])
        let prepared = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("spill") { spill throws(ConnectorError) in
                try spill.set(1_000_000 as Int64, at: 0)
                try spill()
            }
        }
        for error in [named, prepared] {
            #expect(error.code == .tooLarge)
            #expect(error.message == "spill needs 1000000 bytes for into, more than the buffer's 65536")
            // What a runner advises is part of the cause.
            let advice = [error.cause, error.fix].compactMap(\.self).joined()
            #expect(advice.contains("fix the plugin: return what may be longer with -> string"))
        }
        await test.host.close()
    }

    @Test func `a handle is a number that only its gate understands`() async throws {
        let test = try TestHost(TestHost.leaf("gate", plugin: "values"), TestHost.leaf("other", plugin: "values"))
        await test.host.open()
        let handle = try await test.call("gate", "make", ["value": 42])
        #expect(handle["handle"]?.integer != nil)
        #expect(try await test.call("gate", "read", ["from": handle]) == 42)
        #expect(try await test.call("gate", "maybe", ["d": handle]) == "---d")
        #expect(try await test.call("gate", "make", ["value": 0]) == nil)
        for wrong in [["handle": 77], ["handle": -1], 5, "x", ["handle": "1"]] as [JSONValue] {
            let error = try await error(test, "read", ["from": wrong])
            #expect(error.code == .invalid)
            #expect(error.message.contains("is not a handle of this gate"))
        }
        let foreign = try await failure { () throws(ConnectorError) in
            try await test.call("other", "read", ["from": handle])
        }
        #expect(foreign.code == .invalid)
    }

    // MARK: Wrong values, before any plugin code runs

    @Test(
        arguments: [
            ("a", 128, "a: 128 is outside the range of i8, -128 to 127"),
            ("a", -129, "a: -129 is outside the range of i8, -128 to 127"), ("b", 40000, "range of i16"),
            ("c", 2_147_483_648, "range of i32"), ("d", 9.3e18, "range of i64"),
            ("d", 1.5, "d: expected i64, got a number"),
            ("e", -1, "range of u8, 0 to 255"), ("e", 256, "range of u8"), ("f", 65536, "range of u16"),
            ("g", 4_294_967_296, "range of u32"), ("h", -1, "range of u64"),
            ("h", "18446744073709551616", "range of u64"),
            ("h", "-5", "h: expected u64, got a string"), ("h", "", "expected u64"), ("h", 1e300, "range of u64"),
            ("g", "5", "g: expected u32, got a string"), ("i", 1e39, "range of f32"),
            ("j", "1", "j: expected f64, got a string"),
            ("a", true, "a: expected i8, got a boolean"), ("a", [], "a: expected i8, got an array"),
            ("a", nil, "numbers needs \"a\""), ("j", .number(.nan), "range of f64"),
            ("i", .number(.infinity), "range of f32"),
            ("d", .number(.nan), "expected i64"), ("h", .number(.nan), "expected u64"),
            ("h", .number(-.infinity), "h: -inf is outside the range of u64"),
            ("d", .number(.infinity), "d: inf is outside the range of i64"),
        ] as [(String, JSONValue, String)]
    )
    func `a number that does not fit its type is refused with the type and its range`(
        _ name: String,
        _ value: JSONValue,
        _ message: String
    ) async throws {
        let test = try await opened()
        var numbers = Self.lowest
        numbers[name] = value
        let error = try await error(test, "numbers", numbers)
        #expect(error.code == .invalid)
        #expect(error.message.contains(message))
        #expect(error.fix?.hasPrefix("call it as numbers(a: i8, b: i16") == true)
        #expect(error.connector == "gate")
    }

    @Test(
        arguments: [
            ("count", [:], "count needs \"text\""),
            ("count", ["text": 5], "count, text: expected string, got an integer"),
            ("count", ["text": "a", "more": 1], "count has no parameter \"more\""),
            ("count", ["txet": "a"], "count has no parameter \"txet\"; did you mean \"text\"?"),
            ("reverse", ["data": ["base64": "???"]], "expected bytes"),
            ("reverse", ["data": ["base64": "AAE"]], "\"AAE\" is not Base64 of the standard alphabet with padding"),
            ("reverse", ["data": ["base64": 5]], "expected bytes"),
            ("reverse", ["data": [1, 2]], "expected bytes, got an array"), ("released", ["x": 1], "no parameter \"x\""),
            ("fill", ["length": 1, "into": "x"], "fill has no parameter \"into\""),
            ("maybe", ["a": "x"], "maybe, a: expected i16, got a string"),
        ] as [(String, JSONObject, String)]
    )
    func `missing, unknown and mistyped arguments are refused`(
        _ operation: String,
        _ arguments: JSONObject,
        _ message: String
    ) async throws {
        let test = try await opened()
        let error = try await error(test, operation, arguments)
        #expect(error.code == .invalid)
        #expect(error.message.contains(message))
    }

    @Test(arguments: [
        "9007199254740992.0", "9007199254740993.0", "1e18", "-9007199254740993.0", "-9223372036854775808.0",
    ])
    func `a JSON number that may have been rounded is not taken for an integer`(text: String) throws {
        let value = try JSONValue(parsing: text)
        for type in text.hasPrefix("-") ? [ValueType.i64] : [.i64, .u64] {
            let error = #expect(throws: ConnectorError.self) { try CallValue(value, as: type, handles: nil) }
            #expect(error?.message.contains("may have lost digits") == true, "\(error?.message ?? "")")
            let fix = type == .i64 ? "write it without a point or an exponent" : "write it as a string of digits"
            #expect(error?.code == .invalid && error?.fix == fix)
        }
        #expect(try CallValue(value, as: .f64, handles: nil) == .floating(value.number ?? 0))
    }

    @Test func `whole numbers are exact up to 2^53, and integers up to their types' bounds`() throws {
        #expect(try CallValue(.number(0x1p53 - 1), as: .i64, handles: nil) == .signed(9_007_199_254_740_991))
        #expect(try CallValue(.number(1 - 0x1p53), as: .i64, handles: nil) == .signed(-9_007_199_254_740_991))
        #expect(try CallValue(.number(0x1p53 - 1), as: .u64, handles: nil) == .unsigned(9_007_199_254_740_991))
        #expect(
            try CallValue(.integer(9_007_199_254_740_993), as: .i64, handles: nil) == .signed(9_007_199_254_740_993)
        )
        #expect(try CallValue(.integer(.min), as: .i64, handles: nil) == .signed(.min))
        #expect(try CallValue(300.0, as: .i16, handles: nil) == .signed(300))
        let error = #expect(throws: ConnectorError.self) { try CallValue(.number(0x1p63), as: .u64, handles: nil) }
        #expect(error?.code == .invalid && error?.fix == "write it as a string of digits")
        #expect(try CallValue("9223372036854775809", as: .u64, handles: nil) == .unsigned(9_223_372_036_854_775_809))
    }

    @Test func `more bytes than the limit are refused before they are copied`() throws {
        let text = JSONValue.string(String(repeating: "x", count: CallValue.sizeLimit + 1))
        let error = #expect(throws: ConnectorError.self) { try CallValue(text, as: .string, handles: nil) }
        #expect(error?.code == .tooLarge)
    }

    // MARK: Wrong results

    @Test(arguments: ["latin", "surrogate"])
    func `a text that is not UTF-8 is the plugin's misbehaviour`(_ which: String) async throws {
        let test = try await opened()
        let error = try await error(test, "text", ["which": .string(which)])
        #expect(error.code == .misbehaved)
        #expect(error.message == "the plugin's result is not UTF-8")
        #expect(error.connector == "gate")
        let later = try await self.error(test, "say", ["data": ["base64": "/w=="]])
        #expect(later.code == .misbehaved)
    }

    @Test(arguments: [
        ("words", 1, 1), ("open", 2, 7), ("latin", 1, 2), ("nan", 1, 1), ("twice", 1, 8),
    ])
    func `JSON that is not JSON is the plugin's misbehaviour, with the position`(
        _ which: String,
        _ line: Int,
        _ column: Int
    ) async throws {
        let test = try await opened()
        let error = try await error(test, "json", ["which": .string(which)])
        #expect(error.code == .misbehaved)
        #expect(error.message.contains("not JSON"))
        #expect(error.position?.line == line)
        #expect(error.position?.column == column)
        #expect(error.connector == "gate")
    }

    @Test func `a json result without bytes is the plugin's misbehaviour`() async throws {
        let test = try await opened()
        let error = try await error(test, "json", ["which": "nothing"])
        #expect(error.code == .misbehaved)
        #expect(error.message == "the plugin returned no bytes, but its signature declares a json result")
    }

    @Test(arguments: [
        ("latin", "the plugin's result is not UTF-8"),
        ("long", "text has 65537 bytes, more than the buffer's 65536, and the plugin returned CONNECTOR_OK"),
    ])
    func `a text that breaks its type or its buffer is misbehaviour, also beside bytes`(
        _ which: String,
        _ message: String
    ) async throws {
        let test = try await opened()
        let gate = try test.host.gate("gate")
        let right = try await test.call("gate", "mixed", ["which": "right"])
        #expect(right == ["text": "caf", "data": ["base64": "eA=="]])
        #expect(test.host.report["gate"]?.misbehaviourCount == 0)
        let named = try await error(test, "mixed", ["which": .string(which)])
        #expect(test.host.report["gate"]?.misbehaviourCount == 1)
        let outcomes = try await failure { () throws(ConnectorError) in
            try await gate.outcomes(of: "mixed", ["which": .string(which)])
        }
        #expect(test.host.report["gate"]?.misbehaviourCount == 2)
        let prepared = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("mixed") { mixed throws(ConnectorError) in
                try mixed.set(.string(which), at: 0)
                try mixed()
                _ = try mixed.json()
            }
        }
        // A runner's answer in a lane does not wait for its word of misbehaviour.
        while test.host.report["gate"]?.misbehaviourCount != 3 { try await Task.checkedYield() }
        for error in [named, outcomes, prepared] { #expect(error.code == .misbehaved && error.message == message) }
    }

    @Test func `numbers that JSON cannot express are the plugin's misbehaviour`() async throws {
        let test = try await opened()
        for which in ["nan", "infinity"] {
            #expect(try await error(test, "number", ["which": .string(which)]).code == .misbehaved)
        }
        #expect(try await test.call("gate", "number", ["which": "zero"]).number == 0)
    }

    @Test func `a result that claims more than the limit is refused unread, and given back`() async throws {
        let test = try await opened()
        for length in ["67108865", "9223372036854775807", "18446744073709551615"] {
            #expect(try await error(test, "claim", ["length": .string(length)]).code == .tooLarge)
        }
        #expect(try await error(test, "claim", ["length": 1]).code == .misbehaved)
        #expect(try await test.call("gate", "claim", ["length": 0]) == ["base64": ""])
        #expect(try await test.call("gate", "released").integer ?? 0 >= 5)
    }

    @Test func `an error whose texts have no end and are not UTF-8 is read all the same`() async throws {
        let test = try await opened()
        let error = try await error(test, "fail", ["status": 8])
        #expect(error.code == .unavailable)
        #expect(error.isRetryable)
        #expect(error.message.unicodeScalars.dropLast().allSatisfy { $0 == "\u{FFFD}" } && error.message.hasSuffix("…"))
        #expect(error.cause?.hasPrefix(String(repeating: "d", count: 32)) == true)
        #expect(error.retryAfter == .seconds(86400))
    }

    // MARK: Large results

    @Test func `an array of a million elements arrives whole`() async throws {
        let test = try await opened()
        let answer = try await test.call("gate", "array", ["count": 1_000_000])
        #expect(answer.array?.count == 1_000_000)
    }

    @Test func `the nesting of a result is bounded, however deep the plugin goes`() async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "nest", ["depth": 50]).array?.count == 1)
        for depth in [100_000, 1_000_000] {
            let error = try await error(test, "nest", ["depth": .integer(Int64(depth))])
            #expect(error.code == .misbehaved)
        }
    }
}
