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

    /// The feature flags are the one place where a wrong key shows for certain; none is evaluated, so none is billed. A
    /// server without them is sent an empty batch, which proves only that it answers.
    func open() async throws -> [Evidence] {
        let flags = try await host.http.send(requests.flags)
        if flags.status == 200 { return [.authenticated("the project API key was accepted")] }
        guard [400, 404, 405].contains(flags.status) else { throw failure(flags) }
        let batch = try await host.http.send(requests.batch([], sentAt: host.clock.now))
        guard batch.status == 200 || batch.status == 400 else { throw failure(batch) }
        return [.reachable("answered HTTP \(batch.status) to an empty batch")]
    }

    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await PostHogRequests.limits.deliver(events) { event in
            try self.events.encode(event, now: now)
        } send: { batch in
            let answer = try await host.http.send(requests.batch(batch.map(\.bytes), sentAt: host.clock.now))
            // Only exactly 200 is success.
            guard answer.status == 200 else { throw failure(answer) }
        }
    }

    /// The failure, with PostHog's own `detail`.
    private func failure(_ response: HTTPResponse) -> PluginError {
        response.failure(vendor: "posthog", words: (try? response.json())?["detail"]?.string, now: host.clock.now)
    }
}
