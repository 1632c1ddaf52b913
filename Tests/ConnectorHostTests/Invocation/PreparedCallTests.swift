// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Described calls with values in the order of the parameters, and with places that are prepared once.
@Suite(.timeLimit(.minutes(10))) struct PreparedCallTests {
    private func opened(
        _ channel: TestChannel
    ) async throws -> (host: TestHost, values: GateClient, forms: GateClient) {
        let test = try TestHost(
            TestHost.leaf("values", plugin: "values", settings: channel.settings),
            TestHost.leaf("forms", plugin: "forms", settings: channel.settings)
        )
        #expect(await test.host.open().isReady)
        return (test, try test.host.gate("values"), try test.host.gate("forms"))
    }

    // MARK: By name, with values

    @Test(arguments: TestChannel.all)
    func `values are taken in the order of the parameters`(channel: TestChannel) async throws {
        let (_, values, forms) = try await opened(channel)
        #expect(try await values.call("count", "caf\u{e9}") == 5)
        #expect(try await values.call("number", "zero").number == 0)
        #expect(try await values.call("pair", ["n": 1] as JSONValue) == ["first": ["n": 1], "second": "{\"n\":1}"])
        #expect(try await values.call("fill", 3)["into"]?.string?.utf8.count == 3)
        let named = try await forms.call("numbers3", ["a": 1.5, "b": 2, "c": 3])
        #expect(try await forms.call("numbers3", 1.5, 2.0, 3) == named)
        let integers = try await forms.call("integers2", ["a": 40, "b": 2])
        #expect(try await forms.call("integers2", 40, 2 as Int64) == integers)
        #expect(try await forms.call("integers2", 40.0, 2) == integers)
    }

    /// A value of the application's own type.
    private struct Own: OperationValue {
        let json: JSONValue
    }

    @Test(arguments: TestChannel.all)
    func `a value of the application's own type is passed as its JSON`(channel: TestChannel) async throws {
        let (_, values, forms) = try await opened(channel)
        let integers = try await forms.call("integers2", ["a": 40, "b": 2])
        #expect(try await forms.call("integers2", Own(json: 40), Own(json: 2.0)) == integers)
        #expect(try await values.call("maybe", Own(json: .null), 0.5) == "-b--")
        #expect(try await values.call("count", Own(json: "caf\u{e9}")) == 5)
        let error = try await failure { () throws(ConnectorError) in try await forms.call("integers1", Own(json: "1")) }
        #expect(error.message == "integers1, a: expected i64, got a string")
    }

    @Test(arguments: TestChannel.all)
    func `optional parameters may be null, and left out at the end`(channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        #expect(try await values.call("maybe", -7) == "a---")
        #expect(try await values.call("maybe", JSONValue.null, 0.5) == "-b--")
        #expect(try await values.call("maybe", JSONValue.null, JSONValue.null, "") == "--0-")
    }

    @Test(arguments: TestChannel.all)
    func `an operation that answers by completion is called by its name, too`(channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        #expect(try await values.call("array", 3).array?.count == 3)
        #expect(try await values.call("say", "later") == "later")
    }

    @Test func `a composite takes values, too`() async throws {
        let leaf = TestHost.leaf("values", plugin: "values")
        let test = try TestHost(TestHost.composite("all", "first", leaf))
        await test.host.open()
        #expect(try await test.host.gate("all").call("count", "abc") == 3)
        let error = try await failure { () throws(ConnectorError) in
            try await test.host.gate("all").call("count", "abc", "d")
        }
        #expect(error.code == .invalid)
        #expect(error.message == "count takes 1 values")
    }

    @Test(arguments: TestChannel.all)
    func `values that do not fit are refused with the signature`(channel: TestChannel) async throws {
        let (_, _, forms) = try await opened(channel)
        let many = try await failure { () throws(ConnectorError) in try await forms.call("integers1", 1, 2) }
        #expect(many.message == "integers1 takes 1 values")
        let few = try await failure { () throws(ConnectorError) in try await forms.call("integers3", 1) }
        #expect(few.message == "integers3 needs \"b\"")
        let text = try await failure { () throws(ConnectorError) in try await forms.call("integers1", "1") }
        #expect(text.message == "integers1, a: expected i64, got a string")
        let fraction = try await failure { () throws(ConnectorError) in try await forms.call("integers1", 0.5) }
        #expect(fraction.message == "integers1, a: expected i64, got a number")
        let infinite = try await failure { () throws(ConnectorError) in
            try await forms.call("numbers1", Double.infinity)
        }
        #expect(infinite.message == "numbers1, a: inf is outside the range of f64, any finite number")
        for error in [many, few, text, fraction, infinite] {
            #expect(error.code == .invalid)
            #expect(error.fix?.hasPrefix("call it as ") == true)
            #expect(error.connector == "forms")
        }
    }

    @Test func `a gate that is not open says so`() async throws {
        let test = try TestHost(TestHost.leaf("values", plugin: "values"))
        let error = try await failure { () throws(ConnectorError) in
            try await test.host.gate("values").call("count", "abc")
        }
        #expect(error.code == .notOpen)
        #expect(error.connector == "values")
    }

    // MARK: Prepared

    @Test(arguments: TestChannel.all)
    func `a prepared call is made any number of times`(channel: TestChannel) async throws {
        let (_, _, forms) = try await opened(channel)
        let once = try await forms.call("integers2", 1, 2).integer
        let total = try await forms.withPrepared("integers2") { add throws(ConnectorError) in
            var total: Int64 = 0
            for _ in 0..<1000 {
                try add.set(1, at: 0)
                try add.set(2, at: 1)
                try add()
                total += try add.integer()
            }
            return total
        }
        #expect(total == once.map { $0 * 1000 })
    }

    @Test(arguments: TestChannel.all)
    func `a parameter keeps its value from call to call, and can be set to none`(channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        let seen = try await values.withPrepared("maybe") { maybe throws(ConnectorError) in
            var seen: [JSONValue] = []
            try maybe()
            seen.append(try maybe.json())
            try maybe.set(-7, at: 0)
            try maybe.set(.string("x"), at: 2)
            try maybe()
            seen.append(try maybe.json())
            try maybe.set(.null, at: 0)
            try maybe()
            seen.append(try maybe.json())
            return seen
        }
        #expect(seen == ["----", "a-c-", "--c-"])
    }

    @Test(arguments: [ValueType.string, .bytes, .json, .bytes32])
    func `a parameter that is set to none has no length either`(type: ValueType) throws {
        let layout = try CallLayout(Signature(parsing: "(a: \(type)?) -> i64"))
        let argument = try #require(unsafe layout.shape.inputs.first?.argument)
        let seen = CallFrame.with(layout) { frame in
            [.bytes([1, 2, 3]), .none].map { (value: CallValue) in
                frame.set([value])
                return unsafe frame.slots.load(fromByteOffset: 8 * (argument + 1), as: UInt64.self)
            }
        }
        #expect(seen == [3, 0])
    }

    @Test(arguments: TestChannel.all)
    func `texts, buffers and owned results are those of the last call`(channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        try await values.withPrepared("reverse") { reverse throws(ConnectorError) in
            for text in ["abc", "", String(repeating: "x", count: 1000), "de"] {
                try reverse.set(Array(text.utf8), at: 0)
                try reverse()
                #expect(try reverse.bytes() == Array(text.utf8.reversed()))
                #expect(try reverse.bytes() == Array(text.utf8.reversed()))
            }
        }
        try await values.withPrepared("fill") { fill throws(ConnectorError) in
            for length in [5, 0, 7] as [Int64] {
                try fill.set(length, at: 0)
                try fill()
                #expect(try fill.bytes(at: 0).count == Int(length))
                #expect(try fill.integer(at: 1) == Int64(CallFrame.bufferSize))
            }
        }
    }

    @Test(arguments: TestChannel.all)
    func `every owned result is given back once`(channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        let before = try await values.call("released").integer ?? 0
        try await values.withPrepared("pair") { pair throws(ConnectorError) in
            try pair.set(Array("[1]".utf8), at: 0)
            for _ in 0..<10 { try pair() }
        }
        // A runner gives the last ones back after its answer.
        while try await values.call("released").integer ?? 0 < before + 20 { try await Task.checkedYield() }
    }

    @Test(arguments: TestChannel.all)
    func `what a call fills in before it fails is not given back`(channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        let named = try await failure { () throws(ConnectorError) in try await values.call("spoil") }
        let prepared = try await failure { () throws(ConnectorError) in
            try await values.withPrepared("spoil") { spoil throws(ConnectorError) in try spoil() }
        }
        for error in [named, prepared] { #expect(error.message == "it went wrong later") }
        #expect(try await values.call("spoilt") == 0)
    }

    @Test(arguments: TestChannel.all)
    func `there is no answer before a call, nor after one that failed`(channel: TestChannel) async throws {
        let (_, _, forms) = try await opened(channel)
        try await forms.withPrepared("numbers1") { half throws(ConnectorError) in
            #expect(isRefused { () throws(ConnectorError) in _ = try half.number() })
            #expect(isRefused { () throws(ConnectorError) in try half() })
            try half.set(3, at: 0)
            try half()
            _ = try half.number()
            #expect(isRefused { () throws(ConnectorError) in _ = try half.number(at: 1) })
            #expect(isRefused { () throws(ConnectorError) in _ = try half.number(at: -1) })
            #expect(isRefused { () throws(ConnectorError) in _ = try half.bytes() })
            #expect(isRefused { () throws(ConnectorError) in try half.set(3, at: 1) })
            #expect(isRefused { () throws(ConnectorError) in try half.set(3, at: -1) })
        }
        let failed = try await failure { () throws(ConnectorError) in
            try await forms.withPrepared("fail") { fail throws(ConnectorError) in
                try fail.set(1, at: 0)
                try fail()
            }
        }
        #expect(failed.connector == "forms")
    }

    @Test(arguments: ["latin", "surrogate"], TestChannel.all)
    func `an answer that is not text is the plugin's misbehaviour`(which: String, channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        let error = try await failure { () throws(ConnectorError) in try await values.call("text", which) }
        #expect(error.code == .misbehaved)
        let prepared = try await failure { () throws(ConnectorError) in
            try await values.withPrepared("text") { text throws(ConnectorError) in
                try text.set(.string(which), at: 0)
                try text()
                return try text.json()
            }
        }
        #expect(prepared.code == .misbehaved)
    }

    @Test(arguments: TestChannel.all)
    func `an operation that answers by completion cannot be prepared`(channel: TestChannel) async throws {
        let (_, values, _) = try await opened(channel)
        let error = try await failure { () throws(ConnectorError) in
            try await values.withPrepared("say") { say throws(ConnectorError) in try say() }
        }
        #expect(error.code == .unsupported)
        #expect(error.message == "say is asynchronous, so its calls cannot be prepared")
    }

    @Test func `the calls of a serial gate take turns, prepared or not`() async throws {
        let test = try TestHost(TestHost.leaf("serial", plugin: "serial"))
        await test.host.open()
        let gate = try test.host.gate("serial")
        let visitors = Visitors()
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        try await gate.withPrepared("counts") { counts throws(ConnectorError) in
                            visitors.enter()
                            defer { visitors.leave() }
                            try counts()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(visitors.most == 1)
    }
}

/// Whether something is the caller's mistake.
private func isRefused(_ body: () throws(ConnectorError) -> Void) -> Bool {
    do throws(ConnectorError) {
        try body()
        return false
    } catch {
        return error.code == .invalid
    }
}

/// Counts how many are somewhere at once.
private final class Visitors: Sendable {
    private let state = Mutex((now: 0, most: 0))

    /// The most there have been.
    var most: Int { state.withLock(\.most) }

    func enter() {
        state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
    }

    func leave() {
        state.withLock { $0.now -= 1 }
    }
}
