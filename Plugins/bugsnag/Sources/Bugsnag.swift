// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Delivers to Bugsnag's error reporting API (bugsnagerrorreportingapi.docs.apiary.io).
final class Bugsnag: CrashPlugin {
    private let host: Host
    private let requests: BugsnagRequests
    private let events: BugsnagEvents
    private let keyCheck = KeyCheck()

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = BugsnagRequests(
            endpoint: try configuration.url("endpoint"),
            apiKey: try configuration.secret("apiKey").text
        )
        events = BugsnagEvents(
            environment: try configuration.string("environment"),
            release: configuration.optionalString("release")
        )
    }

    /// Sends a request without events, which leaves no trace. If the server refuses the same request with a wrong key,
    /// the real key is proved.
    func open() async throws -> [Evidence] {
        let reachable = try await reach()
        let wrong = BugsnagRequests(endpoint: requests.endpoint, apiKey: String(repeating: "0", count: 32))
        return await keyCheck.evidence(
            reachable,
            refused: wrong.notify([], sentAt: host.clock.now),
            by: host.http
        )
    }

    /// Sends only the real key: a forwarding agent would keep retrying a refused request.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    private func reach() async throws -> Evidence {
        let answer = try await host.http.send(requests.notify([], sentAt: host.clock.now))
        if !BugsnagRequests.accepted.isRefusal(answer) { try check(answer) }
        return .reachable("answered HTTP \(answer.status) to a request without events")
    }

    func deliver(_ reports: [CrashReport]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await BugsnagRequests.limits.deliver(reports) { report in
            events.encode(report, now: now)
        } send: { batch in
            try check(await host.http.send(requests.notify(batch.map(\.bytes), sentAt: host.clock.now)))
        }
    }

    /// Throws unless Bugsnag accepted the request.
    private func check(_ answer: HTTPResponse) throws(PluginError) {
        _ = try BugsnagRequests.accepted.body(of: answer, failure: failure)
    }

    /// The error, with Bugsnag's own `errors` and its rule for retries: every status but 4xx, and also 402, 407, 408
    /// and 429.
    private func failure(_ response: HTTPResponse) -> PluginError {
        let words = (try? response.json())?["errors"]?.array?.compactMap(\.string).joined(separator: "; ")
        var failure = response.failure(vendor: "bugsnag", words: words, now: host.clock.now)
        let isClients = (400..<500).contains(response.status) && ![402, 407].contains(response.status)
        if !isClients { failure.isRetryable = true }
        return failure
    }
}
