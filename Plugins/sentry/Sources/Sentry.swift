// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Delivers to Sentry, and to servers that accept its envelopes (develop.sentry.dev/sdk/data-model/envelopes).
final class Sentry: CrashPlugin {
    private let host: Host
    private let requests: SentryRequests
    private let events: SentryEvents
    private let keyCheck = KeyCheck()
    /// Whether the server's last answer to an empty envelope was empty; some servers also answer events so.
    private let answersNothing = Atomic(false)

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        let text = try configuration.string("dsn")
        guard let dsn = SentryDSN(text) else {
            throw PluginError(.invalid, "dsn must be like https://KEY@HOST/PROJECT", domain: "sentry")
        }
        requests = SentryRequests(dsn: dsn)
        events = SentryEvents(
            environment: try configuration.string("environment"),
            release: configuration.optionalString("release")
        )
    }

    /// Sends an envelope without items, which leaves no trace. Relay accepts it before it checks the key; other servers
    /// check first. If the server refuses the same envelope with a wrong key, the real key is proved.
    func open() async throws -> [Evidence] {
        let answer = try await reach()
        let wrong = SentryRequests(dsn: requests.dsn.withWrongKey)
        let refusal = try await host.http.sendForEvidence(wrong.envelope(item: nil, id: nil, sentAt: host.clock.now))
        keyCheck.note(isRefused: refusal?.status == 401 || refusal?.status == 403)
        return evidence(answer)
    }

    /// Sends only the real key: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        evidence(try await reach())
    }

    private func reach() async throws -> HTTPResponse {
        let answer = try await host.http.send(requests.envelope(item: nil, id: nil, sentAt: host.clock.now))
        if answer.status != 429 || answer.isPage {
            _ = try SentryRequests.received.body(of: answer, failure: failure)
        }
        if answer.isSuccess { answersNothing.store(answer.body.isEmpty, ordering: .relaxed) }
        return answer
    }

    private func evidence(_ answer: HTTPResponse) -> [Evidence] {
        let reachable = Evidence.reachable("answered HTTP \(answer.status) to an empty envelope")
        return answer.isSuccess ? keyCheck.evidence(reachable) : [reachable]
    }

    /// Sends one request per report, because an envelope holds only one event. A limit that comes with an answer holds back the others.
    func deliver(_ reports: [CrashReport]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        var wait: Duration?
        let answers = try await SentryRequests.limits.deliver(reports) { report in
            events.encode(report, now: now)
        } send: { batch in
            try SentryRateLimits.check(wait)
            for (report, bytes) in batch {
                let request = try requests.envelope(item: bytes, id: report.id, sentAt: host.clock.now)
                let answer = try await host.http.send(request)
                wait = SentryRateLimits.wait(of: answer, now: host.clock.now)
                try check(answer)
            }
        }
        return zip(reports, answers).map { report, answer in
            answer.outcome == .accepted ? .accepted(id: report.id) : answer
        }
    }

    /// Throws unless Sentry took the event.
    private func check(_ answer: HTTPResponse) throws(PluginError) {
        // An empty answer counts only from a server that refuses wrong keys: anything else that answers so need not be
        // a server for reports.
        let isNothingEnough = answersNothing.load(ordering: .relaxed) && keyCheck.refusesWrongKeys
        let expected = isNothingEnough ? SentryRequests.acceptedSilently : SentryRequests.accepted
        _ = try expected.body(of: answer, failure: failure)
    }

    /// The error, with Sentry's own `detail` and `causes`.
    private func failure(_ response: HTTPResponse) -> PluginError {
        let body = try? response.json()
        let causes = body?["causes"]?.array?.compactMap(\.string) ?? []
        let words = ([body?["detail"]?.string].compactMap(\.self) + causes).joined(separator: ": ")
        var failure = response.failure(vendor: "sentry", words: words.isEmpty ? nil : words, now: host.clock.now)
        failure.retryAfter = SentryRateLimits.wait(of: response, now: host.clock.now) ?? failure.retryAfter
        return failure
    }
}
