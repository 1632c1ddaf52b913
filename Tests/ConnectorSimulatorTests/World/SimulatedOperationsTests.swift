// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorInvocation
import ConnectorManifest
import ConnectorPlatform
import Testing

@testable import ConnectorSimulator

/// Answers of operations from a file.
@Suite struct SimulatedOperationsTests {
    private func world(_ operations: String) throws -> SimulatedWorld {
        try SimulatedWorld(parsing: Array(#"{"version": 1, "operations": [\#(operations)]}"#.utf8), file: "a.json")
    }

    private func operations(_ text: String) throws -> SimulatedOperations {
        SimulatedOperations(try world(text), clock: ManualHostClock())
    }

    private func faults(_ text: String) -> [String] {
        do {
            _ = try SimulatedWorld(parsing: Array(text.utf8), file: "a.json")
            return []
        } catch {
            return error.errors.map { "\($0.position?.line ?? 0):\($0.position?.column ?? 0) \($0.message)" }
        }
    }

    @Test func `a record that was created can be read, listed and removed`() throws {
        let notes = try operations(
            """
            {"operation": "create", "keep": {"in": "${args.collection}", "key": "n${count}",
              "value": {"id": "n${count}", "note": "${args.note}"}}, "result": "${record}"},
            {"operation": "get", "read": {"in": "${args.collection}", "key": "${args.id}"}, "result": "${record.note}"},
            {"operation": "get", "error": {"code": "missing", "message": "there is no such note"}},
            {"operation": "list", "list": "${args.collection}", "result": {"all": "${records}", "first": "${records.0.id}"}},
            {"operation": "delete", "remove": {"in": "${args.collection}", "key": "${args.id}"}},
            {"operation": "delete", "error": {"code": "missing"}}
            """
        )
        func call(_ operation: String, _ arguments: JSONObject) throws -> JSONValue {
            var arguments = arguments
            arguments["collection"] = "notes"
            return try notes.answer(operation, arguments).result.get()
        }
        let milk: JSONValue = ["id": "n1", "note": ["title": "Milk"]]
        #expect(try call("create", ["note": ["title": "Milk"]]) == milk)
        #expect(try call("create", ["note": 7]) == ["id": "n2", "note": 7])
        #expect(try call("get", ["id": "n1"]) == ["title": "Milk"])
        #expect(try call("list", [:]) == ["all": [milk, ["id": "n2", "note": 7]], "first": "n1"])
        #expect(try call("delete", ["id": "n1"]) == .null)
        let error = #expect(throws: ConnectorError.self) { try call("get", ["id": "n1"]) }
        #expect(error?.code == .missing && error?.message == "there is no such note")
        #expect(throws: ConnectorError.self) { try call("delete", ["id": "n1"]) }
        #expect(try call("list", [:])["all"]?.array?.count == 1)
    }

    @Test func `an answer is chosen by arguments and by count, and a missing one is an error`() throws {
        let calls = try operations(
            """
            {"operation": "f", "when": {"query": {"page": 2}}, "result": "second"},
            {"operation": "f", "times": 1, "error": {"code": "unavailable", "retryAfter": "2s"}},
            {"operation": "f", "when": {"query": {}}, "delay": "250ms", "result": "call ${count}: ${args.query.page:-none}"}
            """
        )
        #expect(try calls.answer("f", ["query": ["page": 2, "size": 5]]).result.get() == "second")
        let first = calls.answer("f", ["query": ["page": 1]])
        let error = #expect(throws: ConnectorError.self) { try first.result.get() }
        #expect(error?.isRetryable == true && error?.retryAfter == .seconds(2))
        let second = calls.answer("f", ["query": ["page": 1]])
        #expect(try second.result.get() == "call 1: 1")
        #expect(second.delay == .milliseconds(250))
        #expect(try calls.answer("f", ["query": [:]]).result.get() == "call 2: none")
        let unwritten = #expect(throws: ConnectorError.self) { try calls.answer("g", [:]).result.get() }
        #expect(unwritten?.code == .unsupported)
    }

    @Test func `every fault of the operations and the timeline is reported at its position`() {
        #expect(
            faults(
                """
                {"version": 1, "operations": [
                {"when": 1, "result": "${nothing.id}"},
                {"operation": "f", "result": 1, "error": {"code": "bad"}},
                {"operation": "f", "keep": {"in": "notes", "key": "${records}"}, "delay": "soon"},
                {"operation": "f", "result": ["${args.x}", {"a": "${record.id}"}], "times": 0}
                ], "timeline": [
                {"event": {"name": "1"}},
                {"at": "now", "for": "1s", "fault": "slow"},
                {"every": "0s"},
                {"at": "1s", "times": 2, "for": "0s", "event": {"name": "e", "payload": "${args.x}"}},
                {"at": "1s", "answers": [{"path": "x"}]}
                ]}
                """
            ) == [
                #"2:1 operations[0].operation is missing; it must be a string"#,
                #"2:23 "${nothing.id}" names no value"#,
                #"2:10 operations[0].when must be an object, not an integer"#,
                #"3:33 an answer has "result" or "error", never both"#,
                #"3:51 a plugin cannot fail with the code "bad""#,
                #"4:75 the delay is "soon"; it must be a duration such as "250ms" or "5s", at most "1h""#,
                #"4:28 operations[2].keep.value is missing"#,
                #"4:51 "${records}" names no value"#,
                #"5:50 "${record.id}" names no value"#,
                #"5:77 operations[3].times is 0, outside 1 to 1000000"#,
                #"7:1 timeline[0] must say when: "at", "every" or both"#,
                #"7:20 the name of an event is a letter, then letters, digits, ".", "_" and "-", at most 64"#,
                #"8:8 at is "now"; it must be a duration such as "250ms", "5s", "2m" or "1h""#,
                #"8:37 the fault is "slow": slow takes a value: slow=…"#,
                #"9:11 every must be longer than 0"#,
                #"9:1 nothing happens: add one of "event", "keep", "remove", "fault", "error", "answers", "operations""#,
                #"10:14 "times" is how often "every" happens"#,
                #"10:26 "for" is how long one of "fault", "error", "answers", "operations" lasts"#,
                #"10:33 for must be longer than 0"#,
                #"10:73 "${args.x}" names no value"#,
                #"11:35 the path "x" must begin with /"#,
                #"8:28 "fault" changes what a vendor answers, and a simulated interface asks none"#,
                #"11:14 "answers" changes what a vendor answers, and a simulated interface asks none"#,
            ]
        )
        #expect(faults(#"{"version": 1}"#).count == 1)
    }

    @Test func `a timeline may change an interface only if there are operations`() {
        let text = #"{"version": 1, "timeline": [{"at": "1s", "error": {"code": "denied"}, "operations": []}]}"#
        #expect(
            faults(text) == [
                #"1:42 "error" changes a simulated interface, and there are no "operations""#,
                #"1:71 "operations" changes a simulated interface, and there are no "operations""#,
            ]
        )
        #expect(
            faults(#"{"version": 1, "operations": [], "timeline": [{"at": "1s", "error": {"code": "denied"}}]}"#) == []
        )
    }

    @Test func `the manifest reveals unknown operations and parameters, and impossible delays`() throws {
        let manifest = Manifest.read(
            Array(
                #"""
                {"manifest": 1, "id": "m", "version": "1.0.0", "abi": [1, 1], "entry": "m", "capabilities": {"m/1": {
                  "add": {"symbol": "m_add", "signature": "(a: f64, b: f64) -> f64"}}}}
                """#.utf8
            ),
            file: "m.connector.json"
        ).manifest
        let text = #"""
            {"version": 1, "operations": [
            {"operation": "ad", "result": 1},
            {"operation": "add", "when": {"c": 1}, "result": "${args.d}", "delay": "1s"}
            ], "timeline": [{"at": "1s", "operations": [{"operation": "sub"}]}]}
            """#
        let world = try SimulatedWorld(parsing: Array(text.utf8), file: "a.json")
        let found = world.faults(with: try #require(manifest)).map {
            "\($0.position?.line ?? 0):\($0.position?.column ?? 0) \($0.message)"
        }
        #expect(
            found == [
                #"2:15 the plugin m has no operation "ad""#, #"3:31 add has no parameter "c""#,
                #"3:50 add has no parameter "d""#, "3:72 add returns at once, and cannot be delayed",
                #"4:59 the plugin m has no operation "sub""#,
            ]
        )
    }

    @Test func `the manifest reveals results and conditions that can never fit, and lets be what depends on the call`()
        throws
    {
        let manifest = try Manifest(
            parsing: Array(
                #"""
                {"manifest": 1, "id": "m", "version": "1.0.0", "abi": [1, 1], "entry": "m", "capabilities": {"m/1": {
                  "num": {"symbol": "m_num", "signature": "() -> i64"},
                  "put": {"symbol": "m_put", "signature": "(v: json) async"},
                  "get": {"symbol": "m_get", "signature": "(n: i64?, data: bytes?) async -> json"},
                  "both": {"symbol": "m_both", "signature": "() -> (twice: u8, note: string)"},
                  "read": {"symbol": "m_read", "signature": "(result: out json)"}}}}
                """#.utf8
            )
        )
        let text = #"""
            {"version": 1, "operations": [
            {"operation": "num", "result": "x"}, {"operation": "num"}, {"operation": "num", "result": "${args}"},
            {"operation": "put", "result": 1}, {"operation": "put", "result": null}, {"operation": "put"},
            {"operation": "get", "when": {"n": "x"}, "result": 1}, {"operation": "get", "when": {"n": null}},
            {"operation": "get", "when": {"n": 2, "data": "raw"}}, {"operation": "get", "when": {"data": {"base64": "AA=="}}},
            {"operation": "both", "result": {"twice": 300, "note": "${count}"}}, {"operation": "both", "result": {"twice": 1}},
            {"operation": "both", "result": {"twice": "${count}", "note": "n"}},
            {"operation": "read", "result": 1}, {"operation": "read", "result": [{"result": 1}]}, {"operation": "read"},
            {"operation": "read", "result": {"result": 1}}, {"operation": "read", "result": "${count}"}
            ], "timeline": [{"at": "1s", "operations": [{"operation": "num", "result": 1.5}]}]}
            """#
        let world = try SimulatedWorld(parsing: Array(text.utf8), file: "a.json")
        let found = world.faults(with: manifest).map {
            "\($0.position?.line ?? 0):\($0.position?.column ?? 0) \($0.message)"
        }
        #expect(
            found == [
                #"2:32 the result does not fit num() -> i64: expected i64, got a string"#,
                #"2:38 the result does not fit num() -> i64: expected i64, got null"#,
                #"3:22 put(v: json) async returns nothing"#,
                #"4:36 no call of get(n: i64?, data: bytes?) async -> json has this n: expected i64, got a string"#,
                #"4:91 no call of get(n: i64?, data: bytes?) async -> json has this n: expected i64, got null"#,
                #"5:47 no call of get(n: i64?, data: bytes?) async -> json has this data: calls pass it as {"base64":"cmF3"}"#,
                #"6:43 the result does not fit both() -> (twice: u8, note: string): twice: 300 is outside the range of u8, 0 to 255"#,
                #"6:102 the result does not fit both() -> (twice: u8, note: string): note: expected string, got null"#,
                #"8:33 the result does not fit read(result: out json): expected an object with "result", got an integer"#,
                #"8:69 the result does not fit read(result: out json): expected an object with "result", got an array"#,
                #"10:76 the result does not fit num() -> i64: expected i64, got a number"#,
            ]
        )
    }

    @Test func `a call that no answer matches is told the file, and an answer where it is written`() throws {
        let manifest = try Manifest(
            parsing: Array(
                #"""
                {"manifest": 1, "id": "m", "version": "1.0.0", "abi": [1, 1], "entry": "m", "capabilities": {"m/1": {
                  "echo": {"symbol": "m_echo", "signature": "(v: json) async -> json"}}}}
                """#.utf8
            )
        )
        let text = #"{"operation": "echo", "when": {"v": 1}, "result": "${args.v}"}"#
        let echo = SimulatedOperations(try world(text).labelled(by: manifest), clock: ManualHostClock())
        #expect(echo.answer("m/echo", ["v": 1]).place == FilePosition(file: "a.json", line: 1, column: 31))
        let error = #expect(throws: ConnectorError.self) { try echo.answer("m/echo", ["v": 2]).result.get() }
        #expect(error?.message == #"a.json has no answer for m/echo with {"v":2}; add one to its "operations""#)
    }

    @Test(arguments: ["0.1", "1e-3", "16777217", "1", "-0.0", "-0", "1e-60"])
    func `a condition on an f32 is as precise as the argument`(_ text: String) throws {
        let manifest = try Manifest(
            parsing: Array(
                #"""
                {"manifest": 1, "id": "m", "version": "1.0.0", "abi": [1, 1], "entry": "m", "capabilities": {"m/1": {
                  "turn": {"symbol": "m_turn", "signature": "(angle: f32?, exact: f64?) -> i64"}}}}
                """#.utf8
            )
        )
        let world = try world(
            #"""
            {"operation": "turn", "when": {"angle": \#(text)}, "result": 1},
            {"operation": "turn", "when": {"exact": \#(text)}, "result": 2}
            """#
        )
        #expect(world.faults(with: manifest).isEmpty)
        let turn = SimulatedOperations(world.labelled(by: manifest), clock: ManualHostClock())
        let value = try JSONValue(parsing: text)
        let number = try #require(value.number)
        #expect(try turn.answer("m/turn", ["angle": .number(Double(Float(number)))]).result.get() == 1)
        #expect(try turn.answer("m/turn", ["exact": .number(number)]).result.get() == 2)
        let other = turn.answer("m/turn", ["angle": 0.5, "exact": 0.5])
        #expect(throws: ConnectorError.self) { try other.result.get() }
    }

    @Test func `numbers match by value, arrays by order, and objects by the members that are named`()
        throws
    {
        let calls = try operations(
            """
            {"operation": "f", "when": {"a": 1}, "result": "one"},
            {"operation": "f", "when": {"a": [1, {"b": 2}]}, "result": "list"},
            {"operation": "f", "result": "other"}
            """
        )
        #expect(try calls.answer("f", ["a": 1.0]).result.get() == "one")
        #expect(try calls.answer("f", ["a": [1.0, ["b": 2, "c": 3]]]).result.get() == "list")
        for other: JSONValue in ["1", 1.5, true, [1], [["b": 2], 1], [1, ["c": 3]], nil] {
            #expect(try calls.answer("f", ["a": other]).result.get() == "other")
        }
    }

    @Test func `a default is typed if it is the whole value, and a text otherwise`() throws {
        let calls = try operations(
            #"""
            {"operation": "f", "result": ["${args.n:-7}", "${args.n:-true}", "${args.n:-x}", "${args.n:-}", "n${args.n:-7}",
              "${args.n}", "$${args.n}", "${args.o.0.p}"]}
            """#
        )
        let result: JSONValue = [7, true, "x", "", "n7", nil, "${args.n}", "q"]
        #expect(try calls.answer("f", ["o": [["p": "q"]]]).result.get() == result)
    }

    @Test func `an answer is only for the operation of its label, and an error's message can use arguments`() throws {
        let calls = try operations(
            """
            {"operation": "f", "result": 0}, {"operation": "a/f", "result": 1},
            {"operation": "b/f", "error": {"code": "missing", "message": "no ${args.id}"}}
            """
        )
        #expect(try calls.answer("a/f", [:]).result.get() == 1)
        let error = #expect(throws: ConnectorError.self) { try calls.answer("b/f", ["id": 7]).result.get() }
        #expect(error?.code == .missing && error?.message == "no 7")
        let none = #expect(throws: ConnectorError.self) { try operations("").answer("f", [:]).result.get() }
        #expect(none?.code == .unsupported)
    }
}
