// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import poll

/// The adapter that asks a server for a number.
@Suite struct PollTests {
    private let events = AsyncStream.makeStream(of: (String, JSONValue).self)

    private func poll(_ http: ScriptedHTTP, _ fields: JSONObject = [:]) throws -> Poll {
        var all: JSONObject = [
            "url": "https://weather.example/now", "pointer": "/main/temp", "name": "outside", "unit": "Cel",
            "interval": "60s", "timeout": "10s", "history": 3,
        ]
        for member in fields.members { all[member.name] = member.value }
        let continuation = events.continuation
        let host = Host(
            http: http,
            clock: StoppedClock(),
            events: Events { name, value throws(PluginError) in continuation.yield((name, value)) }
        )
        return try Poll(configuration: PluginConfiguration(all), host: host)
    }

    private func failure(_ body: () async throws -> Void) async -> PluginError? {
        await #expect(throws: PluginError.self) { try await body() }
    }

    @Test func `a number becomes a reading, and an event`() async throws {
        let http = ScriptedHTTP((200, #"{"main": {"temp": 21.5}}"#))
        let poll = try poll(http, ["authorization": "{{secret:authorization}}"])
        #expect(try await poll.probe() == [.reachable("outside is 21.5 Cel")])
        let reading = try #require(try await poll.latest(of: "outside").first)
        #expect(reading.value == 21.5 && reading.unit == "Cel" && reading.quality == .good)
        #expect(try await poll.range(SensorRange("outside")) == [reading])
        let told = await events.stream.first { _ in true }
        #expect(told?.0 == "sensor-readings" && told?.1 == [reading.json])
        #expect(http.requests.first?.headers["Authorization"] == "{{secret:authorization}}")
        #expect(http.requests.first?.timeout == .seconds(10))
    }

    @Test(
        arguments: [
            (#"{"main": {}}"#, "no value at \"/main/temp\""),
            (#"{"main": {"temp": "21.5"}}"#, "must be a number, not a string"),
            (#"{"main": {"temp": null}}"#, "must be a number, not null"), ("[1, 2]", "no value at"), ("{", "not JSON"),
            ("", "not JSON"), ("<html>Log in</html>", "a web page"),
        ]
    )
    func `an answer without a number is an error, and a reading of bad quality`(
        _ body: String,
        _ message: String
    ) async throws {
        let poll = try poll(ScriptedHTTP((200, body)))
        let error = await failure { _ = try await poll.probe() }
        #expect(
            error?.status == .protocolViolation && error?.message.contains(message) == true,
            "\(error?.message ?? "")"
        )
        let reading = try #require(try await poll.latest(of: nil).first)
        #expect(reading.value == nil && reading.quality == .bad && reading.unit == "Cel")
    }

    @Test(
        arguments: [
            (503, PluginStatus.unavailable), (401, .unauthorized), (404, .notFound), (429, .rateLimited),
            (302, .protocolViolation),
        ]
    )
    func `a refusal keeps its meaning`(_ status: Int, _ meaning: PluginStatus) async throws {
        let poll = try poll(ScriptedHTTP((status, "no")))
        let error = await failure { _ = try await poll.open() }
        #expect(error?.status == meaning && error?.domain == "poll" && error?.detail == Int32(status))
        #expect(try await poll.latest(of: nil).map(\.quality) == [.bad])
    }

    @Test(arguments: [(-10.0, SensorReading.Quality.uncertain), (-9, .good), (40, .good), (40.5, .uncertain)])
    func `a number outside its bounds is uncertain`(_ value: Double, _ quality: SensorReading.Quality) async throws {
        let poll = try poll(ScriptedHTTP((200, "\(value)")), ["pointer": "", "minimum": -9, "maximum": 40])
        _ = try await poll.probe()
        #expect(try await poll.latest(of: nil).map(\.quality) == [quality])
    }

    @Test(
        arguments: [
            (["unit": ""], "unit"), (["pointer": "main"], "pointer"), (["pointer": "/a~2"], "pointer"),
            (["pointer": "/a~"], "pointer"), (["interval": "999ms"], "interval"), (["timeout": "0s"], "timeout"),
            (["minimum": 2, "maximum": 1], "minimum"), (["name": ""], "name"),
        ] as [(JSONObject, String)]
    )
    func `an invalid configuration is refused with the field's name`(_ fields: JSONObject, _ name: String) {
        let error = #expect(throws: PluginError.self) { try poll(ScriptedHTTP(), fields) }
        #expect(error?.status == .invalid && error?.message.contains(name) == true)
    }
}
