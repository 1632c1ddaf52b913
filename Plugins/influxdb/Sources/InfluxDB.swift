// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Writes every event as a point to InfluxDB 1.x, or to a later version by the API of 1.x.
struct InfluxDB: AnalyticsPlugin {
    private let host: Host
    private let requests: InfluxDBRequests
    private let credentials: OptionalCredentials

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = InfluxDBRequests(
            endpoint: try configuration.url("endpoint"),
            database: try configuration.string("database"),
            retentionPolicy: configuration.optionalString("retentionPolicy")
        )
        credentials = OptionalCredentials(configuration)
    }

    /// Sends a write without points, which proves that the database exists and is writable. Versions after 1.x refuse
    /// it, but only once they have checked the credentials. If the server refuses the same write without credentials,
    /// the credentials are proved.
    func open() async throws -> [Evidence] {
        let answer = try await host.http.send(credentials.added(to: requests.write([])))
        var reachable = Evidence.reachable("the database \(requests.database) takes points")
        if InfluxDBRequests.isRefusedAsEmpty(answer) {
            reachable = .reachable("a write to the database \(requests.database) failed only because it had no points")
        } else {
            _ = try InfluxDBRequests.written.body(of: answer, failure: failure)
        }
        return await credentials.evidence(reachable, refused: requests.write([]), by: host.http)
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        var times = PointTimes(now: host.clock.now)
        return try await InfluxDBRequests.limits.deliver(events) { event in
            LineProtocol.point(event, time: times.time(of: event))
        } send: { lines in
            try await write(lines.map(\.bytes))
        }
    }

    /// Throws unless InfluxDB wrote the points.
    private func write(_ lines: [[UInt8]]) async throws(PluginError) {
        let answer = try await host.http.send(credentials.added(to: requests.write(lines)))
        _ = try InfluxDBRequests.written.body(of: answer, failure: failure)
    }

    /// The error, with InfluxDB's own words.
    private func failure(_ response: HTTPResponse) -> PluginError {
        let words = InfluxDBRequests.words(of: response)
        var failure = response.failure(vendor: "influxdb", words: words, now: host.clock.now)
        // InfluxDB answers 500 for an unknown policy, although the client is at fault; an unknown database gets 404.
        if response.status == 500, words?.hasPrefix("retention policy not found") == true {
            (failure.status, failure.isRetryable) = (.notFound, false)
        }
        guard failure.status == .invalid else { return failure }
        switch InfluxDBRequests.culprit(of: response) {
        case .points?: break
        case .server?:
            (failure.status, failure.isRetryable) = (.unavailable, true)
            failure.message += "; no event is at fault: raise the limit that the server names, or see its log"
        case nil:
            // The batch is divided, and an event that is refused alone waits, and holds up no others.
            failure.isRetryable = true
            failure.message += "; these words do not say whether an event is at fault, so see the server's log"
        }
        return failure
    }
}
