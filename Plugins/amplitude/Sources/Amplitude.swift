// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Delivers to Amplitude's HTTP API, version 2 (amplitude.com/docs/apis/analytics/http-v2).
struct Amplitude: AnalyticsPlugin {
    private let host: Host
    private let requests: AmplitudeRequests
    private let events: AmplitudeEvents
    private let keyCheck = KeyCheck()

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = AmplitudeRequests(
            endpoint: try configuration.url("endpoint"),
            apiKey: try configuration.secret("apiKey").text,
            minIdLength: try configuration.integer("minIdLength")
        )
        events = AmplitudeEvents(groupType: try configuration.string("groupType"))
    }

    /// Sends a request without events, which is incomplete. If Amplitude refuses another key first, the real one is proved.
    func open() async throws -> [Evidence] {
        let wrong = requests.upload([], key: "wrong")
        return try await keyCheck.evidence(reach(), refused: wrong, by: host.http) { response in
            AmplitudeAnswer(response).refusesKey
        }
    }

    /// Sends only the real key: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await AmplitudeRequests.limits.deliver(events) { event in
            try self.events.encode(event, now: now)
        } send: { batch in
            let answer = AmplitudeAnswer(try await host.http.send(requests.upload(batch.map(\.bytes))))
            try answer.check(batch.map { AmplitudeEvents.count(of: $0.item) }, now: host.clock.now)
        }
    }

    private func reach() async throws -> Evidence {
        let response = try await host.http.send(requests.upload([]))
        try AmplitudeAnswer(response).check([], now: host.clock.now)
        return .reachable("answered HTTP \(response.status) to a request without events")
    }
}
