// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Delivers to Rollbar's API for items (docs.rollbar.com/reference/create-item).
struct Rollbar: CrashPlugin {
    private let host: Host
    private let requests: RollbarRequests
    private let items: RollbarItems
    private let keyCheck = KeyCheck()

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = RollbarRequests(
            endpoint: try configuration.url("endpoint"),
            accessToken: try configuration.secret("accessToken").text
        )
        items = RollbarItems(
            environment: try configuration.string("environment"),
            platform: try configuration.string("platform"),
            release: configuration.optionalString("release")
        )
    }

    /// Sends an item without content, which is invalid. If Rollbar refuses the same item with another token, the real
    /// token is proved.
    func open() async throws -> [Evidence] {
        let wrong = requests.item([], token: String(repeating: "0", count: 32))
        return try await keyCheck.evidence(reach(), refused: wrong, by: host.http)
    }

    /// Sends only the real token: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    func deliver(_ reports: [CrashReport]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        return try await RollbarRequests.limits.deliver(reports) { report in
            items.encode(report, now: now)
        } send: { batch in
            for item in batch { try check(await host.http.send(requests.item(item.bytes))) }
        }
    }

    private func reach() async throws -> Evidence {
        let answer = try await host.http.send(requests.item([]))
        if !RollbarRequests.taken.isRefusal(answer) { try check(answer) }
        return .reachable("answered HTTP \(answer.status) to an item without content")
    }

    /// Throws unless Rollbar took the item.
    private func check(_ answer: HTTPResponse) throws(PluginError) {
        _ = try RollbarRequests.taken.body(of: answer) { response in
            let words = (try? response.json())?["message"]?.string
            var failure = response.failure(vendor: "rollbar", words: words, now: host.clock.now)
            if failure.retryAfter == nil, response.status == 429 {
                let seconds = response.headers["X-Rate-Limit-Remaining-Seconds"].flatMap { Int64($0) } ?? 60
                failure.retryAfter = .seconds(min(max(0, seconds), 86_400))
            }
            return failure
        }
    }
}
