// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorInvocation
import ConnectorPlatform
import Testing

@testable import ConnectorSimulator

/// Files of answers, and calls, that try to use up time or memory, or to trap.
@Suite struct HostileWorldTests {
    private func faults(_ text: String) -> [ConnectorError] {
        do {
            _ = try SimulatedWorld(parsing: Array(text.utf8), file: "a.json")
            return []
        } catch {
            return error.errors
        }
    }

    private func operations(_ text: String) throws -> SimulatedOperations {
        let text = #"{"version": 1, "operations": [\#(text)]}"#
        let world = try SimulatedWorld(parsing: Array(text.utf8), file: "a.json")
        return SimulatedOperations(world, clock: ManualHostClock())
    }

    @Test(arguments: [
        "", "[]", "7", "{}", #"{"version": 2, "answers": []}"#, #"{"version": "1", "answers": []}"#,
        #"{"version": 1, "answers": {}}"#, #"{"version": 1, "operations": 7}"#, #"{"version": 1, "timeline": "x"}"#,
        #"{"version": 1, "operations": [7]}"#, #"{"version": 1, "timeline": [[]]}"#, #"{"version": 1, "answer": []}"#,
    ])
    func `a file that does not hold answers is refused`(text: String) {
        #expect(!faults(text).isEmpty)
    }

    @Test(arguments: [
        #""at": 3"#, #""at": "-3s""#, #""at": "3""#, #""at": "3.5s""#, #""at": "99999999999999999999s""#,
        #""at": "8761h""#,
        #""every": "0s""#, #""every": "0ms""#, #""every": null"#, #""at": "1s", "for": "-1s""#,
        #""every": "1s", "times": 0"#,
        #""every": "1s", "times": -1"#, #""every": "1s", "times": 1e30"#, #""every": "1s", "times": 1000001"#,
        #""every": "1s", "times": "2""#, #""at": "1s", "evry": "2s""#,
    ])
    func `an invalid time is a fault`(when: String) {
        let text = #"{"version": 1, "operations": [], "timeline": [{\#(when), "error": {"code": "denied"}}]}"#
        let found = faults(text)
        #expect(
            !found.isEmpty && found.allSatisfy { $0.position?.line == 1 && $0.position?.column ?? 0 > 40 },
            "\(found)"
        )
    }

    @Test(arguments: [
        #""keep": 7"#, #""keep": {}"#, #""keep": {"in": "a", "key": "b"}"#,
        #""keep": {"in": "a", "key": "b", "value": 1, "x": 2}"#,
        #""read": []"#, #""read": {"in": "a"}"#, #""remove": null"#, #""list": "${"#, #""list": "${}""#,
        #""list": "${args..a}""#,
        #""result": "${args.a b}""#, #""result": "${args"#, #""when": []"#, #""delay": 5"#, #""delay": "2h""#,
        #""error": "x""#,
        #""error": {}"#, #""error": {"code": 4}"#, #""error": {"code": "denied", "retryAfter": "never"}"#,
        #""error": {"code": "denied", "message": 7}"#, #""error": {"code": "denied", "retryable": "yes"}"#,
        #""error": {"code": "cancelled"}"#, #""operation": 7"#, #""results": 1"#,
    ])
    func `an invalid answer is a fault`(member: String) {
        #expect(!faults(#"{"version": 1, "operations": [{"operation": "f", \#(member)}]}"#).isEmpty)
    }

    @Test func `JSON that is nested too deeply is a fault, and the deepest allowed is an answer`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + #""${args.a}""# + String(repeating: "]", count: depth)
        }
        let deepest = nested(JSONParser.documentDepthLimit)
        #expect(faults(#"{"version": 1, "operations": [{"operation": "f", "result": \#(deepest)}]}"#).count == 1)
        let calls = try operations(#"{"operation": "f", "result": \#(nested(120))}"#)
        #expect(try calls.answer("f", ["a": 1]).result.get().serialized().utf8.count == 241)
        let deep = try JSONValue(parsing: nested(100))
        let error = #expect(throws: ConnectorError.self) { try calls.answer("f", ["a": deep]).result.get() }
        #expect(error?.code == .tooLarge)
    }

    @Test(.timeLimit(.minutes(1))) func `many thousands of faults take little time, and a limited number is kept`() {
        let entry = #"{"operation": "f", "result": "${x}", "delay": "1", "when": 7}"#
        let text = #"{"version": 1, "operations": [\#(repeatElement(entry, count: 30_000).joined(separator: ","))]}"#
        #expect(faults(text).count == JSONReader.problemLimit)
    }

    @Test(arguments: [
        (#""keep": {"in": "a", "key": "b", "value": [#]}"#, "a simulated value would have more than 4 MiB"),
        (#""keep": {"in": "a", "key": "b", "value": "~"}"#, "a simulated value would have more than 4 MiB"),
        (#""remove": {"in": "a", "key": "~"}"#, "a simulated value would have more than 4 MiB"),
        (#""error": {"code": "denied", "message": "~"}"#, "a simulated value would have more than 4 MiB"),
        (#""event": {"name": "e", "payload": [#]}"#, "a simulated value would have more than 4 MiB"),
        (
            #""event": {"name": "e", "payload": "+"}"#,
            #"the payload of the event "e" has 72002 bytes, more than 64 KiB"#
        ),
    ])
    func `a timeline entry that would be too large is a fault at its position`(action: String, message: String) {
        let action = action.replacing("#", with: String(repeating: "0,", count: 600_000) + "0")
            .replacing("~", with: String(repeating: "${time}", count: 200_000))
            .replacing("+", with: String(repeating: "${time}", count: 3000))
        let text = "{\"version\": 1, \"operations\": [],\n\"timeline\": [{\"at\": \"1s\",\n\(action)}]}"
        let found = faults(text)
        #expect(found.map(\.message) == [message] && found.first?.code == .tooLarge)
        #expect(found.first?.position?.line == 3 && found.first?.position?.column ?? 0 > 5)
    }

    @Test func `a record that contains itself twice grows to a limit, and so does one that contains itself once`()
        throws
    {
        for value in [#"["${record}", "${record}"]"#, #""${record}${record}""#, #"{"deeper": "${record}"}"#] {
            let calls = try operations(
                """
                {"operation": "set", "keep": {"in": "c", "key": "k", "value": "${args.value}"}},
                {"operation": "grow", "read": {"in": "c", "key": "k"}, "keep": {"in": "c", "key": "k", "value": \(value)}},
                {"operation": "get", "read": {"in": "c", "key": "k"}, "result": "${record}"}
                """
            )
            _ = try calls.answer("set", ["value": "0123456789"]).result.get()
            var failure: ConnectorError?
            for _ in 0..<200 where failure == nil {
                if case .failure(let error) = calls.answer("grow", [:]).result { failure = error }
            }
            #expect(failure?.code == .tooLarge, "\(value)")
            // What was there before is still there.
            let kept = try calls.answer("get", [:]).result.get()
            #expect(kept != .null && kept.serialized().utf8.count <= TemplateBudget.size)
        }
    }

    @Test func `the records of a simulation share a limit, and removed ones make room`() throws {
        let calls = try operations(
            """
            {"operation": "add", "keep": {"in": "c", "key": "${args.key}", "value": "${args.value}"}},
            {"operation": "delete", "remove": {"in": "c", "key": "${args.key}"}}
            """
        )
        let value = JSONValue.string(String(repeating: "x", count: 4_000_000))
        var kept = 0
        while kept < 100, case .success = calls.answer("add", ["key": .integer(Int64(kept)), "value": value]).result {
            kept += 1
        }
        #expect((10..<20).contains(kept))
        #expect(throws: Never.self) { try calls.answer("add", ["key": 0, "value": value]).result.get() }
        _ = try calls.answer("delete", ["key": 0]).result.get()
        #expect(throws: Never.self) { try calls.answer("add", ["key": 99, "value": value]).result.get() }
        #expect(throws: ConnectorError.self) { try calls.answer("add", ["key": 0, "value": value]).result.get() }
    }
}
