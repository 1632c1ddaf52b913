// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Delivers to Mixpanel: events through its import (developer.mixpanel.com/reference/import-events), and profiles.
struct Mixpanel: AnalyticsPlugin {
    private let host: Host
    private let requests: MixpanelRequests
    private let items: MixpanelItems
    private let keyCheck = KeyCheck()

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        let token = try configuration.secret("token").text
        requests = MixpanelRequests(endpoint: try configuration.url("endpoint"), token: token)
        items = MixpanelItems(token: token, groupKey: try configuration.string("groupKey"))
    }

    /// Sends an import without events. If Mixpanel refuses the same with another token, the real one is proved.
    func open() async throws -> [Evidence] {
        try await keyCheck.evidence(reach(), refused: requests.events([], token: "wrong"), by: host.http)
    }

    /// Sends only the real token: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    /// Events go to the import, and what they say about users and groups to profiles. Both are idempotent.
    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        var delivery = SteppedDelivery(count: events.count)
        func deliver(
            _ isFit: (AnalyticsEvent) -> Bool,
            _ encode: (AnalyticsEvent) throws -> [UInt8],
            _ send: ([[UInt8]]) async throws -> Void
        ) async {
            await delivery.add(events.indices.filter { isFit(events[$0]) }) { places in
                try await MixpanelRequests.limits.deliver(places.map { events[$0] }, encode: encode) { batch in
                    try await send(batch.map(\.bytes))
                }
            }
        }
        await deliver(MixpanelItems.isImported, { try items.event($0, now: now) }, `import`)
        await deliver({ $0.type == .identify || $0.type == .group }, items.user) { try await update(false, $0) }
        await deliver({ $0.type == .group && !$0.traits.isEmpty }, items.group) { try await update(true, $0) }
        return try delivery.result()
    }

    private func reach() async throws -> Evidence {
        let response = try await host.http.send(requests.events([]))
        // Mixpanel may refuse an import without events, but only once it has checked the token.
        if !MixpanelRequests.imported.isRefusal(response) {
            _ = try MixpanelRequests.imported.body(of: response, failure: failure)
        }
        return .reachable("answered HTTP \(response.status) to an import without events")
    }

    /// Throws unless Mixpanel imported all events; for single events it may say why it did not.
    private func `import`(_ items: [[UInt8]]) async throws {
        let response = try await host.http.send(requests.events(items))
        if [200, 400].contains(response.status), let records = (try? response.json())?["failed_records"]?.array {
            var failures: [Int: PluginError] = [:]
            for record in records {
                guard let index = record["index"]?.integer else { continue }
                let words = "mixpanel refused \(record["field"]?.string ?? "event"): \(record["message"]?.string ?? "")"
                failures[Int(index)] = PluginError(.invalid, words, domain: "mixpanel", detail: 400)
            }
            if let refusal = BatchRefusal(failures, of: items.count, tookOthers: true) { throw refusal }
        }
        _ = try MixpanelRequests.imported.body(of: response, failure: failure)
    }

    private func update(_ isOfGroups: Bool, _ items: [[UInt8]]) async throws {
        let response = try await host.http.send(requests.profiles(ofGroups: isOfGroups, items))
        let body = try MixpanelRequests.updated.body(of: response, failure: failure)
        guard body["status"] == 1 else { throw PluginError(.invalid, body["error"]?.string ?? "", domain: "mixpanel") }
    }

    /// The error, with Mixpanel's own `error`.
    private func failure(_ response: HTTPResponse) -> PluginError {
        response.failure(vendor: "mixpanel", words: (try? response.json())?["error"]?.string, now: host.clock.now)
    }
}
