// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Delivers to Segment's tracking API, and to compatible servers.
struct Segment: AnalyticsTextPlugin {
    private let host: Host
    private let requests: SegmentRequests

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = SegmentRequests(
            endpoint: try configuration.url("endpoint"),
            writeKey: try configuration.secret("writeKey")
        )
    }

    /// The tracking API accepts any write key, so an empty batch proves only that it answers. Segment serves a source's
    /// settings by write key, so finding them proves the key.
    func open() async throws -> [Evidence] {
        async let settings = host.http.sendForEvidence(requests.settings)
        let answer = try await host.http.send(requests.batch([], sentAt: host.clock.now))
        if !SegmentResponse.accepted.isRefusal(answer) { try check(answer) }
        let reachable = Evidence.reachable("answered HTTP \(answer.status) to an empty batch")
        guard let found = await settings, SegmentResponse(found).isSettings else { return [reachable] }
        return [reachable, .authenticated("the settings of the source were found by its write key")]
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await SegmentRequests.limits.deliver(events) { event in
            SegmentRequests.encode(event, now: now)
        } send: { batch in
            try check(await host.http.send(requests.batch(batch.map(\.bytes), sentAt: host.clock.now)))
        }
    }

    func deliver(_ events: [AnalyticsEventText]) async throws -> [DeliveryAnswer] {
        try await SegmentRequests.limits.deliver(sized: events, by: SegmentRequests.size) { batch in
            try check(await host.http.send(requests.batch(of: batch, sentAt: host.clock.now)))
        }
    }

    /// Throws unless Segment accepted the batch.
    private func check(_ answer: HTTPResponse) throws(PluginError) {
        _ = try SegmentResponse.accepted.body(of: answer) { SegmentResponse($0).failure(now: host.clock.now) }
    }
}
