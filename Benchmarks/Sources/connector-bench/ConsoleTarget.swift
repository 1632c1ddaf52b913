// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import ConnectorConsole
internal import ConnectorConsoleWeb
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// A console in this process that shows a thousand gates, each of which has changed at every look.
struct ConsoleTarget: Sendable {
    private let console: ServedConsole

    /// Lets one browser in.
    var link: String { console.link }

    private static let gates = 1000

    /// What a host would say.
    private final class Model: ConsoleModel {
        let changes: AsyncStream<Void>
        private let reports: [Report]
        private let looks = Atomic<Int>(0)

        init() throws {
            reports = [0, 1].compactMap { Report(json: Self.document(failing: $0)) }
            guard reports.count == 2 else { throw Failure("the report cannot be read") }
            // Ten times a second, something has changed.
            changes = AsyncStream(unfolding: {
                try? await Task.sleep(for: .milliseconds(100))
                return Task.isCancelled ? nil : ()
            })
        }

        /// Every other gate is open, beginning with the first or the second.
        private static func document(failing first: Int) -> JSONValue {
            let gates = (0..<gates).map { number -> JSONValue in
                let state: GateState = number % 2 == first ? .failed : .open
                return [
                    "path": .string("gate-\(number)"), "state": .string(state.rawValue), "target": "open",
                    "required": true, "ready": .bool(state == .open),
                    "plugin": ["id": .string("plugin-\(number)"), "version": "1.0.0"],
                    "error": ["code": "unavailable", "message": "the vendor answered HTTP 503"],
                ]
            }
            return ["version": 1, "state": "degraded", "ready": false, "gates": .array(gates)]
        }

        func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
            let look = looks.add(1, ordering: .relaxed).newValue
            var snapshot = ConsoleSnapshot(time: SystemHostClock().wallTime(), report: reports[look % 2])
            snapshot.routes = Set(routes)
            return snapshot
        }

        func perform(_ act: ConsoleAct) async -> ActOutcome { "" }
    }

    /// Begins to serve.
    init() async throws {
        let model = try Model()
        console = try await ServedConsole { options, announce in
            try await WebConsole.serve(model, options, announce: announce)
        }
    }

    /// Stops.
    func close() async { await console.close() }

    private func request(_ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: console.url + path)
        request.headers.add(name: "Authorization", value: "Bearer \(ServedConsole.token)")
        return request
    }

    /// Loads the first page.
    ///
    /// - Returns: How many bytes it has.
    func page() async throws -> Int {
        let response = try await HTTPClient.shared.execute(request("/gates"), timeout: .seconds(30))
        guard response.status == .ok else { throw Failure("the console answered \(response.status.code)") }
        return try await response.body.collect(upTo: 1 << 24).readableBytes
    }

    /// Looks at the page for a while.
    ///
    /// - Returns: The nanoseconds of processor time that the whole process took per second, and how many bytes came per second.
    func watch(for duration: Duration) async throws -> (time: Double, bytes: Int) {
        let stream = try await HTTPClient.shared.execute(request("/-/live?at=%2Fgates"), timeout: .seconds(600))
        let (clock, start) = (ContinuousClock(), Usage.processorTime)
        let end = clock.now + duration
        var bytes = 0
        for try await part in stream.body {
            bytes += part.readableBytes
            if clock.now >= end { break }
        }
        let seconds = Double((clock.now - end + duration).nanoseconds) / 1e9
        return ((Usage.processorTime - start) / seconds, Int(Double(bytes) / seconds))
    }
}
