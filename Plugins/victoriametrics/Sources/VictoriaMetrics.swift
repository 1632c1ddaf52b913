// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Imports every event as samples into VictoriaMetrics (docs.victoriametrics.com).
struct VictoriaMetrics: AnalyticsPlugin {
    private let host: Host
    private let requests: VictoriaMetricsRequests
    private let credentials: OptionalCredentials

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        credentials = OptionalCredentials(configuration)
        requests = VictoriaMetricsRequests(
            endpoint: try configuration.url("endpoint"),
            job: configuration.optionalString("job")
        )
    }

    /// Sends an empty import, which proves that the server takes samples; `/health` would need no credentials. If the
    /// server refuses the same import without credentials, they are proved.
    func open() async throws -> [Evidence] {
        try await `import`([])
        return await credentials.evidence(
            .reachable("the server takes samples"),
            refused: requests.import([]),
            by: host.http
        )
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let samples = EventSamples(now: host.clock.now)
        return try await VictoriaMetricsRequests.limits.deliver(events, encode: samples.lines) { batch in
            try await `import`(batch.map(\.bytes))
        }
    }

    /// Throws unless VictoriaMetrics took the samples.
    private func `import`(_ lines: [[UInt8]]) async throws(PluginError) {
        let answer = try await host.http.send(credentials.added(to: requests.import(lines)))
        _ = try VictoriaMetricsRequests.imported.body(of: answer) { response in
            // The server names the request first, and what to do about it last.
            response.failure(vendor: "victoriametrics", words: response.excerpt(of: 800), now: host.clock.now)
        }
    }
}
