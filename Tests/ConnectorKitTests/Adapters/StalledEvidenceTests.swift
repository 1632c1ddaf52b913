// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization
internal import Testing

/// A gate opens although the vendor never answers what would only add evidence, such as a request with a wrong key.
@Suite struct StalledEvidenceTests {
    /// A vendor that does not answer such requests. It notes how long each would have waited.
    private final class Tarpit: HTTPService {
        private struct State {
            var numbers: [HTTPRequest.Method: Int] = [:]
            var patience: [Duration?] = []
        }

        private let vendor: SimulatedHTTP
        private let exercise: AdapterExercise
        private let state = Mutex(State())

        init(_ vendor: SimulatedHTTP, _ exercise: AdapterExercise) {
            (self.vendor, self.exercise) = (vendor, exercise)
        }

        /// How long the requests without an answer would have waited; nil for the whole call.
        var patience: [Duration?] { state.withLock { $0.patience } }

        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            let isExtra = state.withLock { state in
                let number = state.numbers[request.method, default: 0]
                state.numbers[request.method] = number + 1
                guard exercise.isExtra(.init(method: request.method, number: number)) else { return false }
                state.patience.append(request.timeout)
                return true
            }
            if isExtra { throw PluginError(.timedOut, "no answer in time") }
            return try await vendor.send(request)
        }
    }

    /// The vendors that are asked something that only adds evidence.
    private static let asked: Set = [
        "amplitude", "bugsnag", "clickhouse", "google", "influxdb", "matomo", "mixpanel", "opencage", "postgrest",
        "pushgateway", "rollbar", "s3", "segment", "sentry", "victoriametrics", "webdav",
    ]

    @Test(arguments: AdapterExercise.all.filter { $0.name == "open" }, [UInt64(4), 5, 60])
    func `what only adds evidence waits for half of the time, three seconds at most, and keeps no gate shut`(
        _ exercise: AdapterExercise,
        _ seconds: UInt64
    ) async throws {
        var between: Tarpit?
        let (plugin, _) = try exercise.adapter { http in
            let tarpit = Tarpit(http, exercise)
            between = tarpit
            return tarpit
        }
        let tarpit = try #require(between)
        let evidence = try await Deadline.apply(seconds * 1_000_000_000, on: StoppedClock()) {
            try await plugin.open()
        }
        #expect(!evidence.isEmpty)
        guard Self.asked.contains(exercise.vendor) else {
            #expect(tarpit.patience.isEmpty)
            return
        }
        #expect(tarpit.patience == [.milliseconds(min(3000, seconds * 500))])
        #expect(!evidence.contains { $0.kind == .authenticated })
    }

    @Test func `outside of a call it waits for three seconds`() async throws {
        let http = ScriptedHTTP((401, ""))
        let request = HTTPRequest(.get, try #require(HTTPURL("http://vendor.example/")))
        #expect(await http.sendForEvidence(request)?.status == 401)
        #expect(http.requests.map(\.timeout) == [.seconds(3)])
        #expect(await http.sendForEvidence(request) == nil)
    }
}
