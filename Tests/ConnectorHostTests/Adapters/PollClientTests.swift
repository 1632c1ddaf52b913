// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

/// The adapter `poll` in a host, with a server that answers as a test says.
@Suite(.enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer"))
struct PollClientTests {
    private let clock = ManualHostClock(now: .seconds(1), wallTime: Timestamp(nanoseconds: 1_800_000_000_000_000_000))

    /// Counts the questions that have reached the server.
    private let questions = CallCounter()

    /// A server that gives one answer after the other, and the last one from then on.
    private func server(_ answers: [LoopbackServer.Answer]) -> LoopbackServer {
        let count = Mutex(0)
        return LoopbackServer { [questions] _ in
            defer { questions.add() }
            return count.withLock { count in
                defer { count += 1 }
                return answers[min(count, answers.count - 1)]
            }
        }
    }

    private func temperature(_ number: String, status: Int = 200) -> LoopbackServer.Answer {
        .response(status, [("Content-Type", "application/json")], Array(#"{"main": {"temp": \#(number)}}"#.utf8))
    }

    private func host(_ server: LoopbackServer, _ fields: JSONObject = ["unit": "Cel"]) throws -> ConnectorHost {
        var config: JSONObject = [
            "url": .string(server.url("/now")), "pointer": "/main/temp", "name": "outside", "interval": "60s",
            "timeout": "7s",
        ]
        for member in fields.members { config[member.name] = member.value }
        let connector: JSONValue = [
            "name": "weather", "plugin": "poll", "probe": "off", "heal": "off", "config": .object(config),
        ]
        return try ConnectorHost.testing(
            JSONValue.array([connector]).serialized(),
            plugins: [try BuiltProducts.library("poll")],
            clock: clock
        )
    }

    @Test func `readings arrive at each interval, even after the server has failed`() async throws {
        let server = server([
            temperature("20"), temperature("21.5"), .response(503, [("Retry-After", "100")], Array("soon".utf8)),
            .stall,
            temperature("\"warm\""), temperature("23"),
        ])
        defer { server.stop() }
        let host = try host(server)
        let sensors = try host.sensor("weather")
        var events = sensors.readings().makeAsyncIterator()
        try await host.open().requireReady()
        var told = try #require(try await events.next(isolation: nil))
        // The server asks for 100 seconds, and does not answer the question that follows.
        for (number, pauses) in [[60], [60], [100, 7], [60], [60]].enumerated() {
            for (index, pause) in pauses.enumerated() {
                // A question that is given up before it has reached the server would leave its answer to the next one.
                if index > 0 { await questions.reaches(number + 2) }
                await clock.advance(toTimerAfter: .seconds(pause))
            }
            told += try #require(try await events.next(isolation: nil))
        }
        #expect(told.map(\.value) == [20, 21.5, nil, nil, nil, 23])
        #expect(told.map(\.quality) == [.good, .good, .bad, .bad, .bad, .good])
        #expect(told.allSatisfy { $0.sensor == "outside" && $0.unit == "Cel" })
        #expect(try await sensors.latest() == [told[5]])
        #expect(try await sensors.range(SensorRange("outside", from: told[1].time, limit: 2)) == Array(told[4...]))
        await host.close()
    }

    @Test func `a number that a proof reads ends the wait that the server has asked for`() async throws {
        let server = server([
            temperature("20"), .response(503, [("Retry-After", "99999999")], Array("later".utf8)), temperature("21"),
            temperature("22"),
        ])
        defer { server.stop() }
        let host = try host(server)
        let sensors = try host.sensor("weather")
        var events = sensors.readings().makeAsyncIterator()
        try await host.open().requireReady()
        var told = try #require(try await events.next(isolation: nil))
        await clock.advance(toTimerAfter: .seconds(60))
        told += try #require(try await events.next(isolation: nil))
        // Even a server whose clock is wrong is asked again after a day.
        await clock.timer(dueAfter: .seconds(86_400))
        try await host.retry("weather")
        told += try #require(try await events.next(isolation: nil))
        await clock.advance(toTimerAfter: .seconds(60))
        told += try #require(try await events.next(isolation: nil))
        #expect(told.map(\.value) == [20, nil, 21, 22])
        await host.close()
    }

    @Test func `the adapter keeps the contract of its capability`() async throws {
        let server = server([temperature("20")])
        defer { server.stop() }
        let host = try host(server)
        try await host.open().requireReady()
        #expect(try await SensorConformance.check(host.sensor("weather")) == [])
        await host.close()
    }

    @Test(
        arguments: [
            (#"{"main": {}}"#, ConnectorError.Code.protocolViolation, "no value at \"/main/temp\""),
            (#"{"main": {"temp": "x"}}"#, .protocolViolation, "must be a number"),
            ("<html>", .protocolViolation, "a web page"),
        ]
    )
    func `a gate whose server returns no number does not open, and says why`(
        _ body: String,
        _ code: ConnectorError.Code,
        _ message: String
    ) async throws {
        let server = server([.response(200, [], Array(body.utf8))])
        defer { server.stop() }
        let host = try host(server)
        let error = await host.open()["weather"]?.error
        #expect(error?.code == code && error?.message.contains(message) == true, "\(String(describing: error))")
        await host.close()
    }

    @Test func `a gate whose server never answers does not open`() async throws {
        let server = server([.stall])
        defer { server.stop() }
        let host = try host(server)
        async let report = host.open()
        await clock.advance(toTimerAfter: .seconds(7))
        #expect(await report["weather"]?.error?.code == .timedOut)
        await host.close()
    }

    @Test func `a configuration without a unit is refused before anything runs`() async throws {
        let server = server([temperature("20")])
        defer { server.stop() }
        let error = #expect(throws: ConfigurationErrors.self) { try host(server, [:]) }
        #expect(error?.errors.map(\.code) == [.missingValue])
        #expect(error?.errors.first?.message.contains("\"unit\"") == true)
        #expect(server.requests.isEmpty)
    }
}
