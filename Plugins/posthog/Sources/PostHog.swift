// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Delivers to PostHog's capture API (posthog.com/docs/api/capture).
struct PostHog: AnalyticsPlugin {
    private let host: Host
    private let requests: PostHogRequests
    private let events: PostHogEvents

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = PostHogRequests(
            endpoint: try configuration.url("endpoint"),
            apiKey: try configuration.secret("apiKey")
        )
        events = PostHogEvents(groupType: try configuration.string("groupType"))
    }

    /// Only a request for feature flags reveals a wrong key for certain; `open` evaluates none, so PostHog bills none.
    /// To a server without feature flags, or while they are away, `open` sends an empty batch, which proves only that it answers.
    func open() async throws -> [Evidence] {
        let flags = try await host.http.send(requests.flags)
        if ![400, 404, 405, 408, 429].contains(flags.status), flags.status < 500 {
            _ = try PostHogAnswer.flags.body(of: flags, failure: failure)
            return [.authenticated("the project API key was accepted")]
        }
        let batch = try await host.http.send(requests.batch([], sentAt: host.clock.now))
        if !PostHogAnswer.accepted.isRefusal(batch) { try check(batch) }
        return [.reachable("answered HTTP \(batch.status) to an empty batch")]
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await PostHogRequests.limits.deliver(events) { event in
            try self.events.encode(event, now: now)
        } send: { batch in
            try check(await host.http.send(requests.batch(batch.map(\.bytes), sentAt: host.clock.now)))
        }
    }

    /// Throws unless PostHog accepted the batch.
    private func check(_ answer: HTTPResponse) throws(PluginError) {
        let body = try PostHogAnswer.accepted.body(of: answer, failure: failure)
        guard let limited = body["quota_limited"]?.array, limited.contains("events") else { return }
        throw PluginError(.rateLimited, "the project's quota of events is used up", domain: "posthog", detail: 200)
    }

    private func failure(_ response: HTTPResponse) -> PluginError {
        PostHogAnswer.failure(response, now: host.clock.now)
    }
}
