// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import NIOCore
import NIOPosix
import Testing

@testable import ConnectorSimulator

@Suite(.timeLimit(.minutes(10))) struct SimulatorTests {
    /// Runs a simulator on a free port for the length of a test.
    private func serve(
        _ vendors: [String],
        faults: [String] = [],
        change: (inout SimulatorOptions) -> Void = { _ in },
        _ body: @escaping @Sendable (Simulator, Int) async throws -> Void
    ) async throws {
        var options = SimulatorOptions()
        options.vendors = vendors
        options.faults = try faults.map { try Fault($0, vendors: vendors) }
        change(&options)
        let simulator = try Simulator(options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            try await body(simulator, try await simulator.port)
            simulator.stop()
            try await group.waitForAll()
        }
    }

    /// Sends bytes over a connection of its own and returns what comes back until the other side closes.
    @concurrent
    private static func exchange(_ port: Int, _ text: String, then body: [UInt8] = []) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: Array(text.replacing("\n", with: "\r\n").utf8) + body))
            var received: [UInt8] = []
            for try await buffer in inbound { received += buffer.readableBytesView }
            return String(decoding: received, as: UTF8.self)
        }
    }

    @Test func `requests are answered over a connection that stays open`() async throws {
        try await serve(["influxdb", "photon"]) { simulator, port in
            let answer = try await Self.exchange(
                port,
                """
                HEAD /influxdb/ping HTTP/1.1
                Host: localhost

                GET /photon/status HTTP/1.1
                Host: localhost
                Connection: close


                """
            )
            #expect(answer.hasPrefix("HTTP/1.1 204 No Content\r\n"))
            #expect(answer.contains("X-Influxdb-Version: 1.8.10"))
            #expect(answer.contains("HTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix("\"version\":\"1.0.0\"}"))
            let base = try await simulator.baseURL(of: "photon")
            #expect(base == "http://127.0.0.1:\(port)/photon")
            #expect(simulator.received().map(\.path) == ["/ping", "/status"])
        }
    }

    @Test func `one vendor alone has the root as its base`() async throws {
        try await serve(["photon"]) { simulator, port in
            let base = try await simulator.baseURL(of: "photon")
            #expect(base == "http://127.0.0.1:\(port)")
            await #expect(throws: SimulatorError.unknownVendor("kinto")) { try await simulator.baseURL(of: "kinto") }
        }
    }

    @Test func `the simulator offers a configuration that reaches its vendor`() async throws {
        try await serve(["sentry", "kinto", "parse"]) { simulator, port in
            let dsn = try await simulator.configuration(of: "sentry")
            #expect(dsn == ["dsn": "http://0123456789abcdef0123456789abcdef@127.0.0.1:\(port)/sentry/1"])
            let kinto = try await simulator.configuration(of: "kinto")
            #expect(kinto["endpoint"] == "http://127.0.0.1:\(port)/kinto/v1")
            #expect(kinto["username"] == "demo")
            let parse = try await simulator.configuration(of: "parse")
            #expect(parse["endpoint"] == "http://127.0.0.1:\(port)/parse/parse")
        }
    }

    @Test func `a reset closes without an answer`() async throws {
        try await serve(["photon"], faults: ["photon:reset,times=1"]) { simulator, port in
            let request = "GET /status HTTP/1.1\nHost: a\nConnection: close\n\n"
            let answer = try? await Self.exchange(port, request)
            #expect(answer == nil || answer?.isEmpty == true)
            let second = try await Self.exchange(port, request)
            #expect(second.contains("200 OK"))
            #expect(simulator.received().map(\.status) == [0, 200])
        }
    }

    @Test func `a truncated answer is shorter than its header says`() async throws {
        try await serve(["photon"], faults: ["photon:truncated"]) { _, port in
            let answer = try await Self.exchange(port, "GET /status HTTP/1.1\nHost: a\n\n")
            let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
            let length = answer.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }.flatMap {
                Int($0.dropFirst(16))
            }
            #expect(parts.count == 2)
            #expect(try #require(length) > parts[1].utf8.count)
        }
    }

    @Test func `a slow answer waits on the clock it was given`() async throws {
        let clock = RecordingClock()
        try await serve(["photon"], faults: ["photon:slow=30m"]) {
            $0.clock = clock
        } _: { _, port in
            let answer = try await Self.exchange(port, "GET /status HTTP/1.1\nHost: a\nConnection: close\n\n")
            #expect(answer.contains("200 OK"))
        }
        #expect(clock.slept == [.seconds(1800)])
    }

    @Test func `a body larger than the limit is refused before it is read`() async throws {
        try await serve(["posthog"]) {
            $0.bodyLimits = (encoded: 10, decoded: 100)
        } _: { _, port in
            let request = "POST /batch/ HTTP/1.1\nHost: a\nContent-Length: 1000000\n\n"
            let answer = try await Self.exchange(port, request, then: Array(repeating: 65, count: 100))
            #expect(answer.hasPrefix("HTTP/1.1 413"))
            #expect(answer.contains("\"detail\""))
        }
    }

    @Test func `a client that expects 100-continue is told to continue`() async throws {
        try await serve(["posthog"]) { simulator, port in
            let request =
                "POST /batch/ HTTP/1.1\nHost: a\nExpect: 100-continue\nContent-Length: 2\nConnection: close\n\n"
            let answer = try await Self.exchange(port, request, then: Array("{}".utf8))
            #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n"))
            #expect(answer.contains("HTTP/1.1 401 Unauthorized"))
            #expect(simulator.received().first?.body == Array("{}".utf8))
        }
    }

    @Test func `a web page of any origin may call a vendor's API`() async throws {
        try await serve(["posthog"]) { _, port in
            let answer = try await Self.exchange(
                port,
                """
                OPTIONS /batch/ HTTP/1.1
                Host: a
                Origin: http://b
                Access-Control-Request-Method: POST
                Access-Control-Request-Headers: content-type
                Connection: close


                """
            )
            #expect(answer.hasPrefix("HTTP/1.1 204"))
            #expect(answer.contains("Access-Control-Allow-Headers: content-type"))
            #expect(answer.contains("Access-Control-Allow-Origin: http://b\r\n"))
            #expect(answer.contains("Access-Control-Allow-Credentials: true\r\n"))
        }
    }

    @Test(arguments: [("2", "429"), ("1000000", "413")])
    func `a web page that sends credentials may read all of an answer`(length: String, status: String) async throws {
        try await serve(["sentry"], faults: ["sentry:status=429,retry-after=7"]) {
            $0.bodyLimits = (encoded: 10, decoded: 100)
        } _: { _, port in
            let request =
                "POST /api/1/envelope/ HTTP/1.1\nHost: a\nOrigin: http://b\nContent-Length: \(length)\n"
            let answer = try await Self.exchange(port, request + "Connection: close\n\n", then: Array("{}".utf8))
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"))
            #expect(answer.contains("Access-Control-Allow-Origin: http://b\r\n"))
            #expect(answer.contains("Access-Control-Allow-Credentials: true\r\n"))
            #expect(answer.contains("Vary: Origin\r\n"))
            let exposed = answer.split(separator: "\r\n").first { $0.hasPrefix("Access-Control-Expose-Headers: ") }
            #expect(exposed?.contains("Content-Type") == true)
            if status == "429" { #expect(exposed?.contains("Retry-After") == true) }
        }
    }

    @Test(arguments: ["GET", "DELETE", "OPTIONS", "HEAD"], ["/_received", "/posthog/_received"])
    func `no web page may read or clear the received requests`(method: String, path: String) async throws {
        try await serve(["posthog", "segment"]) { _, port in
            let answer = try await Self.exchange(
                port,
                """
                \(method) \(path) HTTP/1.1
                Host: localhost
                Origin: http://b
                Access-Control-Request-Method: DELETE
                Connection: close


                """
            )
            #expect(answer.hasPrefix("HTTP/1.1 403"))
            #expect(!answer.contains("Access-Control"))
        }
    }

    @Test func `a taken port is an error for whoever runs the simulator and whoever asks for its port`() async throws {
        try await serve(["photon"]) { _, port in
            var options = SimulatorOptions()
            options.port = port
            let second = try Simulator(options)
            await #expect(throws: (any Error).self) { try await second.run() }
            await #expect(throws: SimulatorError.self) { try await second.port }
        }
    }

    @Test func `a simulator is run once, and a second run leaves the first one alone`() async throws {
        try await serve(["photon"]) { simulator, port in
            let error = await #expect(throws: ConnectorError.self) { try await simulator.run() }
            #expect(error?.code == .invalid)
            let later = try await simulator.port
            #expect(later == port)
        }
    }

    @Test func `a number that is no port is an error, and not another port`() async throws {
        var options = SimulatorOptions()
        options.port = 70000
        let simulator = try Simulator(options)
        let error = await #expect(throws: (any Error).self) { try await simulator.run() }
        #expect(error.map { "\($0)" }?.contains("from 0 to 65535, not 70000") == true)
    }

    @Test func `a cancelled task does not wait for a server that never runs`() async throws {
        let simulator = try Simulator(SimulatorOptions())
        let task = Task { try await simulator.baseURL(of: "photon") }
        task.cancel()
        let reason = "the task was cancelled while it waited"
        await #expect(throws: SimulatorError.notRunning(reason)) { try await task.value }
    }
}
