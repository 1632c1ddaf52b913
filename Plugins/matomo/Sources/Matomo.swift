// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Delivers to Matomo's tracking API (developer.matomo.org/api-reference/tracking-api).
final class Matomo: AnalyticsPlugin {
    private let host: Host
    private let requests: MatomoRequests
    /// Whether Matomo says which requests of a batch are invalid; it tells only superusers.
    private let namesInvalid = Atomic(false)
    /// When batches may have several events again, in nanoseconds of the monotonic clock: an hour after Matomo lost one of a batch.
    private let singleUntil = Atomic<UInt64>(0)

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        requests = try MatomoRequests(configuration)
    }

    /// Sends a request for no site, which is invalid and counts nowhere; then asks for the site with the token.
    func open() async throws -> [Evidence] {
        let body = try tracked(await host.http.send(requests.track([MatomoRequests.noSite])))
        guard body["invalid"] == 1, body["tracked"] == 0 else {
            throw PluginError(.protocolViolation, "matomo did not refuse a request for no site", domain: "matomo")
        }
        namesInvalid.store(body["invalid_indices"] == [0], ordering: .relaxed)
        let reachable = Evidence.reachable("the tracking API refuses a request for no site")
        guard requests.hasToken, let answer = await host.http.sendForEvidence(requests.site) else { return [reachable] }
        let site = try? answer.json()
        if answer.status == 401 || answer.status == 403 || site?["result"] == "error" {
            var failure = failure(answer)
            failure.status = .unauthorized
            throw failure
        }
        guard answer.isSuccess, let name = site?["name"]?.string, site?["idsite"] != nil else { return [reachable] }
        return [reachable, .authenticated("the token may see the site \(name.prefix(80))")]
    }

    /// Sends events one by one unless Matomo would say which of them are invalid, and has lost none for a while.
    func deliver(_ events: [AnalyticsEvent]) async throws -> [DeliveryAnswer] {
        let now = host.clock.now
        var limits = MatomoRequests.limits
        let isSingle = host.clock.monotonic < singleUntil.load(ordering: .relaxed)
        if isSingle || !namesInvalid.load(ordering: .relaxed) { limits.batchCount = 1 }
        return try await limits.deliver(events) { event in
            try requests.encode(event, now: now)
        } send: { batch in
            let body = try tracked(await host.http.send(requests.track(batch.map(\.bytes))))
            let (taken, invalid) = (body["tracked"]?.integer ?? 0, body["invalid"]?.integer ?? 0)
            guard taken > 0 || invalid > 0 else {
                throw PluginError(.unavailable, "matomo tracked none of the requests", domain: "matomo", detail: 200)
            }
            let failure = PluginError(.invalid, "matomo calls the request invalid", domain: "matomo", detail: 200)
            let places = (body["invalid_indices"]?.array ?? []).compactMap(\.integer).map { (Int($0), failure) }
            let refusal = BatchRefusal(Dictionary(places) { $1 }, of: batch.count, tookOthers: taken > 0)
            if batch.count > 1, taken > 0 {
                try checkLoss(batch.count, tracked: taken, refused: refusal?.failures ?? [:])
            } else if invalid > 0, refusal == nil {
                throw failure
            }
            if let refusal { throw refusal }
        }
    }

    /// Throws if Matomo neither took some events nor named them as invalid. It skips requests that wait too long for its database and calls
    /// the batch a success, or it no longer says which requests are invalid. All but the named ones go again then, one by one.
    private func checkLoss(_ count: Int, tracked: Int64, refused: [Int: PluginError]) throws {
        let lost = Int64(count - refused.count) - min(tracked, Int64(count))
        guard lost > 0 else { return }
        singleUntil.store(host.clock.monotonic &+ 3_600_000_000_000, ordering: .relaxed)
        host.log.log(.warning, "matomo did not track some events of a batch", ["lost": .integer(lost)])
        let words = "matomo tracked \(tracked) of \(count) requests, and does not say which; each goes again by itself"
        let failure = PluginError(.unavailable, words, domain: "matomo", detail: 200)
        let failures = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, refused[$0] ?? failure) })
        if let refusal = BatchRefusal(failures, of: count, tookOthers: true) { throw refusal }
    }

    private func tracked(_ answer: HTTPResponse) throws(PluginError) -> JSONValue {
        try MatomoRequests.tracked.body(of: answer, failure: failure)
    }

    private func failure(_ response: HTTPResponse) -> PluginError {
        response.failure(vendor: "matomo", words: (try? response.json())?["message"]?.string, now: host.clock.now)
    }
}
