// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Sends to Google Analytics 4 (developers.google.com/analytics/devguides/collection/protocol/ga4).
struct GA4: AnalyticsPlugin {
    private let host: Host
    private let requests: GA4Requests
    private let isValidating: Bool

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = GA4Requests(
            endpoint: try configuration.url("endpoint"),
            stream: try configuration.string("stream"),
            apiSecret: try configuration.secret("apiSecret")
        )
        isValidating = try configuration.boolean("validate")
    }

    /// Asks the validation server, which counts nothing. Google does not say whether it accepts a secret or a stream's id.
    func open() async throws -> [Evidence] {
        let event = AnalyticsEvent(.page, anonymousId: String(repeating: "0", count: 32))
        let item = try GA4Events.encode(event, now: host.clock.now)
        try await validate(requests.collect([item], of: event, isCheck: true))
        return [.reachable("the validation server takes the protocol's requests; Google does not check secrets")]
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await GA4Requests.limits.deliver(events) { event in
            // What a request says about its person applies to all its events.
            [event.anonymousId, event.userId, event.type == .identify ? event.messageId : nil]
        } encode: { event in
            try GA4Events.encode(event, isOfApp: requests.isOfApp, now: now)
        } send: { batch in
            let items = batch.map(\.bytes)
            if isValidating { try await validate(requests.collect(items, of: batch[0].item, isCheck: true)) }
            let answer = try await host.http.send(requests.collect(items, of: batch[0].item))
            _ = try GA4Requests.collected.body(of: answer, failure: failure)
        }
    }

    /// Throws `invalid` if the validation server objects to a request.
    private func validate(_ request: HTTPRequest) async throws {
        let messages = try GA4Requests.validated.body(of: await host.http.send(request), failure: failure)
        guard let message = messages["validationMessages"]?[0] else { return }
        let words = message["description"]?.string ?? message["validationCode"]?.string ?? "it says no reason"
        throw PluginError(.invalid, "the validation server objects: \(words)", domain: "ga4", detail: 200)
    }

    private func failure(_ response: HTTPResponse) -> PluginError {
        response.failure(vendor: "ga4", now: host.clock.now)
    }
}
