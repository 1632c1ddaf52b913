// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHost
import ConnectorHostTesting
import ConnectorInvocation
import ConnectorManifest
import ConnectorPlatform
import ConnectorServices
import ConnectorTestSupport
import Testing

/// A manifest alone, whose interface is simulated.
@Suite struct SimulatedInterfaceTests {
    private static let manifest = #"""
        {"manifest": 1, "id": "robot", "version": "1.0.0", "abi": [1, 1], "entry": "robot_plugin", "capabilities": {"robot/1": {
          "add": {"symbol": "robot_add", "signature": "(a: f64, b: f64) -> f64"},
          "count": {"symbol": "robot_count", "signature": "(n: i64?) -> (twice: i64, flag: u8)"},
          "greet": {"symbol": "robot_greet", "signature": "(name: string, title: string?) -> string"},
          "fill": {"symbol": "robot_fill", "signature": "(data: bytes, copy: out bytes) -> json"},
          "turn": {"symbol": "robot_turn", "signature": "(angle: f32) -> f32"},
          "read": {"symbol": "robot_read", "signature": "(result: out json)"},
          "say": {"symbol": "robot_say", "signature": "(text: json) async -> json"},
          "stop": {"symbol": "robot_stop", "signature": "() async"}}}}
        """#

    /// A host whose only leaf is a manifest without an image.
    private func host(
        _ answers: JSONValue,
        _ clock: ManualHostClock = ManualHostClock(),
        isOpened: Bool = true
    ) async throws -> ConnectorHost {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let file = try directory.write("robot.connector.json", Self.manifest)
        let host = try ConnectorHost.testing(
            #"[{"name": "robot", "plugin": "robot", "probe": "off"}]"#,
            plugins: [file],
            simulating: ["robot": answers],
            clock: clock
        )
        if isOpened { await host.open() }
        return host
    }

    @Test func `operations that share a symbol are refused, as one function cannot answer for both`() throws {
        let text = #"""
            {"manifest": 1, "id": "shared", "version": "1.0.0", "abi": [1, 1], "entry": "shared_entry",
             "capabilities": {"shared/1": {
                "number": {"symbol": "shared", "signature": "(a: f64) -> f64"},
                "other": {"symbol": "shared", "signature": "(a: f64) -> f64"}}}}
            """#
        let standIn = StandIn(clock: SystemHostClock(), proof: { .success("") }) { _, _ in
            StandIn.Answer(.success(.null))
        }
        let error = #expect(throws: ConnectorError.self) {
            try LinkedPlugin(manifest: Array(text.utf8), file: "shared.connector.json", standIn: standIn)
        }
        #expect(error?.code == .unsupported)
        #expect(error?.message.hasPrefix("shared/other shares the symbol shared with another function") == true)
    }

    @Test func `described calls pass values of every kind, and the report and metrics say that the gate is simulated`()
        async throws
    {
        let host = try await host([
            "version": 1,
            "operations": [
                ["operation": "count", "when": ["n": 4], "result": ["twice": 8, "flag": 255]],
                ["operation": "count", "result": ["twice": -1, "flag": 0]],
                ["operation": "greet", "result": "Hello, ${args.title:-Ms} ${args.name}"],
                ["operation": "fill", "result": ["copy": ["base64": "AAEC"], "result": "${args.data}"]],
                ["operation": "say", "result": ["echo": "${args.text.words}"]],
                ["operation": "stop"],
            ],
        ])
        let robot = try host.gate("robot")
        #expect(try await robot.call("count", ["n": 4]) == ["twice": 8, "flag": 255])
        #expect(try await robot.call("count") == ["twice": -1, "flag": 0])
        #expect(try await robot.call("greet", ["name": "Ada"]) == "Hello, Ms Ada")
        #expect(try await robot.call("greet", ["name": "Ada", "title": "Lady"]) == "Hello, Lady Ada")
        let filled: JSONValue = ["copy": ["base64": "AAEC"], "result": ["base64": "/w=="]]
        #expect(try await robot.call("fill", ["data": ["base64": "/w=="]]) == filled)
        #expect(try await robot.call("say", ["text": ["words": [1, "two"]]]) == ["echo": [1, "two"]])
        #expect(try await robot.call("stop") == .null)
        let gate = try #require(host.report["robot"])
        #expect(gate.isSimulated && gate.state == .open && gate.plugin?.isLinked == false)
        #expect(gate.evidence.map(\.detail) == ["simulated by the test"])
        #expect(host.report.json["gates"]?[0]?["simulated"] == true)
        let series = host.prometheusText.split(separator: "\n").filter { $0.contains(#"connector_path="robot""#) }
        #expect(!series.isEmpty && series.allSatisfy { $0.contains(#"connector_simulated="true""#) })
        await host.close()
    }

    @Test(arguments: ["read", "number/read", "number/1/read"])
    func `an answer is that of the version of a capability that a call of its name reaches`(name: String) async throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let file = try directory.write(
            "number.connector.json",
            #"""
            {"manifest": 1, "id": "number", "version": "1.0.0", "abi": [1, 1], "entry": "number_plugin", "capabilities": {
              "number/1": {"read": {"symbol": "number_read", "signature": "() -> i64"}},
              "number/2": {"read": {"symbol": "number_read_2", "signature": "() -> i64"}}}}
            """#
        )
        func results(_ operations: JSONValue) async throws -> [String] {
            let host = try ConnectorHost.testing(
                #"[{"name": "number", "plugin": "number", "probe": "off"}]"#,
                plugins: [file],
                simulating: ["number": ["version": 1, "operations": operations]]
            )
            await host.open()
            let number = try host.gate("number")
            var results: [String] = []
            for name in ["read", "number/read", "number/1/read", "number/2/read"] {
                results.append((try? await number.call(name))?.description ?? "none")
            }
            await host.close()
            return results
        }
        let first: JSONValue = ["operation": .string(name), "result": 1]
        let second: JSONValue = ["operation": "number/2/read", "result": 2]
        #expect(try await results([first]) == ["1", "1", "1", "none"])
        #expect(try await results([first, second]) == ["1", "1", "1", "2"])
    }

    @Test func `typed calls reach the simulation through functions of their C type`() async throws {
        let host = try await host([
            "version": 1,
            "operations": [
                ["operation": "add", "when": ["a": 1.5], "result": "${args.b}"],
                ["operation": "add", "error": ["code": "conflict", "message": "not this one"]],
            ],
        ])
        let robot = try host.gate("robot")
        let add = try robot.typed("add", "(a: f64, b: f64) -> f64", as: OperationFunction.Numbers2.self)
        #expect(try await add(1.5, 2.25) == 2.25)
        let error = await #expect(throws: ConnectorError.self) { try await add(1, 2) }
        #expect(error?.code == .conflict && error?.message == "not this one")
        await host.close()
    }

    @Test func `an answer that does not fit the signature fails the call, and the error says where it is`()
        async throws
    {
        let host = try await host([
            "version": 1,
            "operations": [
                ["operation": "add", "result": "${args.a} of them"],
                ["operation": "say", "times": 1, "result": "${args.text}"],
            ],
        ])
        let error = await #expect(throws: ConnectorError.self) { try await host.gate("robot").call("add", 1, 2) }
        #expect(error?.code == .invalid)
        #expect(
            error?.message == "the answer at answers of robot:1:28 does not fit add(a: f64, b: f64) -> f64: "
                + "expected f64, got a string; correct its \"result\""
        )
        await host.close()
    }

    @Test func `an answer without the keys of its outputs is an error that says what was expected and what came`()
        async throws
    {
        let host = try await host(["version": 1, "operations": [["operation": "read", "result": "${count}"]]])
        let error = await #expect(throws: ConnectorError.self) { try await host.gate("robot").call("read") }
        #expect(error?.code == .invalid)
        #expect(
            error?.message == "the answer at answers of robot:1:28 does not fit read(result: out json): "
                + "expected an object with \"result\", got an integer; correct its \"result\""
        )
        await host.close()
    }

    @Test func `a condition on an f32 holds for the number that calls pass, which has fewer digits`() async throws {
        let host = try await host([
            "version": 1,
            "operations": [["operation": "turn", "when": ["angle": 0.1], "result": "${args.angle}"]],
        ])
        let robot = try host.gate("robot")
        let angle = JSONValue.number(Double(Float(0.1)))
        #expect(try await robot.call("turn", ["angle": 0.1]) == angle)
        #expect(try await robot.call("turn", ["angle": angle]) == angle)
        let error = await #expect(throws: ConnectorError.self) { try await robot.call("turn", ["angle": 0.125]) }
        #expect(error?.code == .unsupported)
        await host.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a simulated host that is closed and released leaves nothing that keeps its clock`() async throws {
        weak var released: ManualHostClock?
        do {
            let clock = ManualHostClock()
            released = clock
            let host = try await host(["version": 1, "operations": [["operation": "stop"]]], clock)
            #expect(try await host.gate("robot").call("stop") == .null)
            await host.close()
        }
        // The threads that closed it may still be on their way out.
        while released != nil { try await Task.checkedYield() }
    }

    @Test func `a delay follows the host's clock`() async throws {
        let clock = ManualHostClock()
        let host = try await host(
            ["version": 1, "operations": [["operation": "say", "delay": "20s", "result": "late"]]],
            clock
        )
        async let answer = host.gate("robot").call("say", ["text": 1])
        await clock.advance(toTimerAfter: .seconds(20))
        #expect(try await answer == "late")
        await host.close()
    }

    @Test func `an hour of events, records and failures happens while the clock is moved`() async throws {
        let clock = ManualHostClock()
        let host = try await host(
            [
                "version": 1,
                "operations": [
                    ["operation": "say", "read": ["in": "state", "key": "battery"], "result": "${record}"]
                ],
                "timeline": [
                    ["every": "1s", "times": 3600, "event": ["name": "tick", "payload": "${count}"]],
                    [
                        "at": "3s", "keep": ["in": "state", "key": "battery", "value": 20],
                        "event": ["name": "battery.low"],
                    ],
                    ["at": "10s", "for": "10s", "error": ["code": "unavailable", "message": "away"]],
                ],
            ],
            clock
        )
        let robot = try host.gate("robot")
        let events = host.events(of: "robot", capacity: 10_000)
        await #expect(throws: ConnectorError.self) { try await robot.call("say", ["text": 1]) }
        clock.advance(by: .seconds(3))
        #expect(try await robot.call("say", ["text": 1]) == 20)
        clock.advance(by: .seconds(8))
        let error = await #expect(throws: ConnectorError.self) { try await robot.call("say", ["text": 1]) }
        #expect(error?.code == .unavailable && error?.message == "away" && error?.isRetryable == true)
        clock.advance(by: .seconds(10))
        #expect(try await robot.call("say", ["text": 1]) == 20)
        clock.advance(by: .seconds(3600))
        await host.close()
        var names: [String: Int] = [:]
        var last = JSONValue.null
        for await event in events {
            names[event.name, default: 0] += 1
            if event.name == "tick" { last = event.payload }
        }
        #expect(names == ["tick": 3600, "battery.low": 1])
        #expect(last == 3600)
    }

    @Test func `events before the gate opens for the first time reach the host once it is open, in order`()
        async throws
    {
        let clock = ManualHostClock()
        let host = try await host(
            [
                "version": 1, "operations": [],
                "timeline": [
                    ["at": "0s", "event": ["name": "begun", "payload": "${time}"]],
                    ["every": "1s", "event": ["name": "tick", "payload": "${count}"]],
                ],
            ],
            clock,
            isOpened: false
        )
        let events = host.events(of: "robot")
        clock.advance(by: .seconds(2))
        await host.open()
        clock.advance(by: .seconds(1))
        // A gate that was open, and no longer is, sends nothing.
        try await host.close("robot")
        clock.advance(by: .seconds(5))
        try await host.open("robot")
        clock.advance(by: .seconds(1))
        await host.close()
        var found: [JSONValue] = []
        for await event in events { found.append(event.payload) }
        #expect(found == ["2026-01-01T00:00:00.000Z", 1, 2, 3, 9])
        #expect(host.report["robot"]?.misbehaviourCount == 0)
    }

    @Test func `of the events before the gate opens, the newest 256 are kept, and the loss is counted`()
        async throws
    {
        let clock = ManualHostClock()
        let timeline: JSONValue = [["every": "1s", "event": ["name": "tick", "payload": "${count}"]]]
        let host = try await host(["version": 1, "operations": [], "timeline": timeline], clock, isOpened: false)
        let events = host.events(of: "robot", capacity: 1000)
        clock.advance(by: .seconds(300))
        await host.open()
        #expect(host.report["robot"]?.misbehaviourCount == 44)
        await host.close()
        var found: [JSONValue] = []
        for await event in events { found.append(event.payload) }
        #expect(found.count == 256 && found.first == 45 && found.last == 300)
    }

    @Test func `records of a timeline that outgrow the limit count as one misbehaviour of the gate`() async throws {
        let clock = ManualHostClock()
        let zeros = JSONValue.array(Array(repeating: 0, count: 400_000))
        let host = try await host(
            [
                "version": 1, "operations": [],
                "timeline": [["every": "1s", "keep": ["in": "log", "key": "${count}", "value": zeros]]],
            ],
            clock
        )
        clock.advance(by: .seconds(30))
        #expect(host.report["robot"]?.misbehaviourCount == 1)
        await host.close()
    }

    @Test func `a delay beyond the call's deadline times out, and a cancelled call drops its answer`() async throws {
        let clock = ManualHostClock()
        let host = try await host(
            ["version": 1, "operations": [["operation": "say", "delay": "20s", "result": "late"]]],
            clock
        )
        let robot = try host.gate("robot")
        let late = Task { try await robot.call("say", ["text": 1], options: CallOptions(timeout: .seconds(5))) }
        await clock.advance(toTimerAfter: .seconds(5))
        let error = await #expect(throws: ConnectorError.self) { try await late.value }
        #expect(error?.code == .timedOut)
        let calling = Task { try await robot.call("say", ["text": 1]) }
        await clock.timer(dueAfter: .seconds(20))
        calling.cancel()
        let cancelled = await #expect(throws: ConnectorError.self) { try await calling.value }
        #expect(cancelled?.code == .cancelled)
        clock.advance(by: .seconds(60))
        #expect(host.report["robot"]?.state == .open)
        await host.close()
    }

    @Test func `an answer is delayed from the moment of the call, so a test that moves the clock races with nothing`()
        async throws
    {
        let clock = ManualHostClock()
        let host = try await host(
            ["version": 1, "operations": [["operation": "say", "delay": "10s", "result": "late"]]],
            clock
        )
        let robot = try host.gate("robot")
        for _ in 1...50 {
            let late = Task { try await robot.call("say", ["text": 1], options: CallOptions(timeout: .seconds(5))) }
            await clock.timer(dueAfter: .seconds(5))
            #expect(clock.hasTimer(dueAfter: .seconds(10)))
            clock.advance(by: .seconds(5))
            let error = await #expect(throws: ConnectorError.self) { try await late.value }
            #expect(error?.code == .timedOut && error?.message == "say did not complete within 5.0 s")
            #expect(error?.cause == nil && error?.fix == nil)
            let next = Task { try await robot.call("say", ["text": 1]) }
            await clock.advance(toTimerAfter: .seconds(10))
            #expect(try await next.value == "late")
        }
        #expect(host.report["robot"]?.misbehaviourCount == 0)
        await host.close()
    }

    @Test func `an adapter without its image answers too late, as the documentation shows`() async throws {
        let clock = ManualHostClock()
        let host = try ConnectorHost.testing(
            #"""
            [{ "name": "geocoder", "plugin": "nominatim",
               "config": { "endpoint": "http://127.0.0.1:8080", "userAgent": "tests/1.0" } }]
            """#,
            plugins: ["\(Fixtures.sources)/../../Plugins/nominatim/nominatim.connector.json"],
            simulating: [
                "geocoder": ["version": 1, "operations": [["operation": "geocode", "delay": "10s", "result": []]]]
            ],
            clock: clock
        )
        try await host.open().requireReady()
        let places = Task {
            try await host.geocoder("geocoder").geocode("Berlin", options: CallOptions(timeout: .seconds(5)))
        }
        await clock.advance(toTimerAfter: .seconds(5))
        let error = await #expect(throws: ConnectorError.self) { try await places.value }
        #expect(error?.code == .timedOut)
        await host.close()
    }

    @Test func `a gate closes although an answer is delayed`() async throws {
        let clock = ManualHostClock()
        let host = try await host(
            ["version": 1, "operations": [["operation": "say", "delay": "1h", "result": "late"]]],
            clock
        )
        let calling = Task {
            try await host.gate("robot").call("say", ["text": 1], options: CallOptions(timeout: .seconds(7200)))
        }
        await clock.timer(dueAfter: .seconds(3600))
        await clock.advance(by: .seconds(1)) { await host.close() }
        await #expect(throws: ConnectorError.self) { try await calling.value }
    }

    @Test func `answers that cannot simulate the plugin are refused, with every reason`() async throws {
        func errors(_ answers: JSONValue, at path: String = "robot") async throws -> [String] {
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let file = try directory.write("robot.connector.json", Self.manifest)
            let error = #expect(throws: ConfigurationErrors.self) {
                try ConnectorHost.testing(
                    #"[{"name": "robot", "plugin": "robot"}]"#,
                    plugins: [file],
                    simulating: [path: answers]
                )
            }
            return error?.errors.map(\.message) ?? []
        }
        let operations: JSONValue = [
            "version": 1, "operations": [["operation": "ad"], ["operation": "add", "result": "1"]],
        ]
        #expect(
            try await errors(operations) == [
                #"the plugin robot has no operation "ad""#,
                "the result does not fit add(a: f64, b: f64) -> f64: expected f64, got a string",
            ]
        )
        #expect(try await errors(["version": 1, "answers": []]).first?.contains("have no \"operations\"") == true)
        #expect(try await errors(["version": 3]).count == 2)
        #expect(
            try await errors(["version": 1, "operations": []], at: "robots")
                == [#"there is no leaf "robots" to simulate"#]
        )
    }
}
