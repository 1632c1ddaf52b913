// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Counts events at a Prometheus Pushgateway (github.com/prometheus/pushgateway).
///
/// A push carries totals, not increments, so one whose answer was lost is repeated without counting twice. No total falls, since Prometheus
/// would count it again. Pushes must not overtake each other: the manifest asks for one operation at a time.
final class Pushgateway: AnalyticsPlugin {
    private let host: Host
    private let requests: PushgatewayRequests
    private let credentials: OptionalCredentials
    /// The totals of what was delivered, and the greatest that the gateway may have; nil until the first delivery.
    private let totals = Mutex<(delivered: PushedCounters, pushed: PushedCounters)?>(nil)

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
            .reachable("the gateway \(version) reported its status"),
            refused: requests.status,
            by: host.http
        )
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        var totals = try await known()
        return try await PushgatewayRequests.limits.deliver(events) { event in
            Array(PushedCounters.labels(of: event).utf8)
        } send: { batch in
            let before = totals.pushed
            var next = totals.delivered
            for (event, _) in batch { try next.count(event) }
            totals.pushed.raise(to: next)
            defer { self.totals.withLock { $0 = totals } }
            do throws(PluginError) {
                _ = try await read(PushgatewayRequests.pushed, requests.push(totals.pushed))
                totals.delivered = next
            } catch {
                guard [.conflict, .tooLarge].contains(error.status) else { throw error }
                // What the gateway refuses it does not have. An earlier push without an answer it may have.
                totals.pushed = before
                if before != totals.delivered { totals.pushed = try await found() }
                totals.pushed.raise(to: totals.delivered)
                throw error
            }
        }
    }

    /// The totals to continue from: those of this instance or, at first, the gateway's, which later may contain a push whose answer was lost.
    private func known() async throws(PluginError) -> (delivered: PushedCounters, pushed: PushedCounters) {
        if let known = totals.withLock({ $0 }) { return known }
        let found = try await found()
        return (found, found)
    }

    private func found() async throws(PluginError) -> PushedCounters {
        PushedCounters(in: try await read(PushgatewayRequests.metrics, requests.metrics), group: requests.group)
    }

    private func read(_ expected: VendorAnswer, _ request: HTTPRequest) async throws(PluginError) -> JSONValue {
        try expected.body(of: try await host.http.send(credentials.added(to: request))) { response in
            var error = response.failure(vendor: "pushgateway", words: response.excerpt(of: 1000), now: host.clock.now)
            // A push says nothing of an event but valid labels: it is refused for what the gateway has, which may change.
            if error.status == .invalid { (error.status, error.isRetryable) = (.conflict, true) }
            return error
        }
    }
}
