// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Counts events at a Prometheus Pushgateway (github.com/prometheus/pushgateway).
///
/// A push carries totals, not increments, so a push whose answer was lost is repeated without counting twice. Pushes must not
/// overtake each other: the manifest asks for one operation at a time.
final class Pushgateway: AnalyticsPlugin {
    private let host: Host
    private let requests: PushgatewayRequests
    private let credentials: OptionalCredentials
    /// The totals at the gateway; nil until the first delivery has read them.
    private let counters = Mutex<PushedCounters?>(nil)

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        credentials = OptionalCredentials(configuration)
        requests = try PushgatewayRequests(
            endpoint: configuration.url("endpoint"),
            job: configuration.string("job"),
            instance: configuration.optionalString("instance")
        )
    }

    /// Asks for the gateway's status. If the gateway refuses the same request without credentials, they are proved.
    func open() async throws -> [Evidence] {
        let status = try await read(PushgatewayRequests.status, requests.status)
        let version = status["data"]?["build_information"]?["version"]?.string ?? "of an unknown version"
        return await credentials.evidence(
            .reachable("the gateway \(version) told its status"),
            refused: requests.status,
            by: host.http
        )
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        var pushed = try await known()
        return try await PushgatewayRequests.limits.deliver(events) { event in
            Array(PushedCounters.labels(of: event).utf8)
        } send: { batch in
            var next = pushed
            for (event, _) in batch { try next.count(event) }
            _ = try await read(PushgatewayRequests.pushed, requests.push(next))
            pushed = next
            counters.withLock { $0 = next }
        }
    }

    /// The totals to continue from: those of this instance or, at first, the gateway's. The gateway is asked only once: after a push whose
    /// answer was lost, its totals may already contain that push.
    private func known() async throws(PluginError) -> PushedCounters {
        if let known = counters.withLock({ $0 }) { return known }
        let metrics = try await read(PushgatewayRequests.metrics, requests.metrics)
        let found = PushedCounters(in: metrics, group: requests.group)
        counters.withLock { $0 = found }
        return found
    }

    private func read(_ expected: VendorAnswer, _ request: HTTPRequest) async throws(PluginError) -> JSONValue {
        try expected.body(of: try await host.http.send(credentials.added(to: request))) { response in
            response.failure(vendor: "pushgateway", now: host.clock.now)
        }
    }
}
