// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorSimulator
internal import Testing

/// Opening and probing a gate leaves nothing in a vendor's numbers: no event, record, launch or request that it bills.
@Suite struct TracelessOpeningTests {
    @Test(arguments: AdapterExercise.all.filter { $0.name == "probe" })
    func `opening and probing leave no trace at the vendor, however often they happen`(_ exercise: AdapterExercise)
        async throws
    {
        let (plugin, http) = try exercise.adapter()
        for _ in 0..<3 {
            _ = try await exercise.prepare(plugin)()
        }
        #expect(http.received.count >= 6)
        for request in http.received {
            #expect(try traces(of: request) == 0, "\(request.method) \(request.path)")
        }
    }

    /// How many things a request adds to what the vendor counts.
    private func traces(of request: RecordedRequest) throws -> Int {
        func count(_ member: String) throws -> Int {
            try #require(JSONValue(parsing: request.body)[member]?.array).count
        }
        switch (request.vendor, request.method) {
        case ("google", _): return request.path.contains("address=") || request.path.contains("latlng=") ? 1 : 0
        case ("opencage", _): return request.path.contains("q=") ? 1 : 0
        case ("nominatim", _): return request.path.hasPrefix("/status") ? 0 : 1
        case ("photon", _): return request.path.hasPrefix("/status") ? 0 : 1
        case (_, "GET"), ("webdav", "PROPFIND"): return 0
        case ("segment", _): return try count("batch")
        case ("matomo", _):
            guard request.path.hasPrefix("/matomo.php") else { return 0 }
            let requests = try #require(JSONValue(parsing: request.body)["requests"]?.array)
            return requests.count { $0.string?.contains("idsite=-1&") != true }
        case ("ga4", _): return request.path.hasPrefix("/debug/") ? 0 : 1
        case ("rollbar", _): return try JSONValue(parsing: request.body) == ["data": [:]] ? 0 : 1
        case ("amplitude", _): return try count("events")
        case ("mixpanel", _): return try #require(JSONValue(parsing: request.body).array).count
        case ("posthog", _) where request.path.hasPrefix("/flags"):
            return try JSONValue(parsing: request.body)["disable_flags"] == true ? 0 : 1
        case ("posthog", _): return try count("batch")
        case ("bugsnag", _): return try count("events")
        case ("sentry", _): return request.body.count { $0 == UInt8(ascii: "\n") } - 1
        case ("clickhouse", _): return request.path.contains("INSERT") ? 1 : 0
        case ("influxdb", _), ("victoriametrics", _): return request.body.count
        default: return 1
        }
    }

    @Test(arguments: AdapterExercise.all.filter { $0.vendor == "parse" && $0.name == "get" })
    func `a Parse Server counts one launch, however often its gate opens`(_ exercise: AdapterExercise) async throws {
        let (plugin, http) = try exercise.adapter()
        for _ in 0..<4 {
            _ = try await plugin.open()
            _ = try await plugin.probe()
        }
        #expect(launches(http) == 0)
        for _ in 0..<3 {
            _ = try await plugin.open()
            _ = try await exercise.prepare(plugin)()
        }
        #expect(launches(http) == 1)
    }

    private func launches(_ http: SimulatedHTTP) -> Int {
        http.received.count { $0.path.contains("events/AppOpened") }
    }
}
