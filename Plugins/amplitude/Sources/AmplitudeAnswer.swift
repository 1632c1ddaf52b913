// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Amplitude's answers. It takes all events of a request or none, and says which ones are to blame.
struct AmplitudeAnswer {
    private let response: HTTPResponse
    private let body: JSONValue?

    init(_ response: HTTPResponse) { (self.response, body) = (response, try? response.json()) }

    /// Whether Amplitude refuses the key; it does so with status 400.
    var refusesKey: Bool {
        response.status == 400 && body?["error"]?.string?.lowercased().hasPrefix("invalid api key") == true
    }

    /// Throws unless Amplitude took the events; each item of the delivery became as many of them as its count says. Amplitude calls a
    /// request without events incomplete, which is not an error.
    func check(_ counts: [Int], now: Timestamp) throws {
        if counts.isEmpty, response.status == 400, body?["code"] == 400, !refusesKey { return }
        let places = counts.enumerated().flatMap { Array(repeating: $0.offset, count: $0.element) }
        if let refusal = refusal(places, of: counts.count, now: now) { throw refusal }
        let ingested = VendorAnswer.Form.object(#"with "code": 200 and "events_ingested""#) { body in
            body["code"] == 200 && body["events_ingested"]?.integer != nil
        }
        let answer = VendorAnswer("amplitude", [ingested], isRefusal: { $0.isCodedError })
        _ = try answer.body(of: response) { _ in failure(now: now) }
    }

    private func refusal(_ places: [Int], of count: Int, now: Timestamp) -> BatchRefusal? {
        guard response.status == 400 || response.status == 429 else { return nil }
        var failures: [Int: PluginError] = [:]
        for list in ["missing_fields", "invalid_fields", "invalid_id_lengths"].map({ "events_with_\($0)" })
            + ["silenced_events", "throttled_events"]
        {
            for (name, indices) in body?[list]?.leaves(under: list) ?? [] {
                var failure = failure(now: now)
                failure.message += ", \(name)"
                // One device or user sends too much: with `rateLimited` the host would hold up the others, too.
                if response.status == 429 { failure.status = .failed }
                for index in indices.array?.compactMap(\.integer) ?? [] where places.indices.contains(Int(index)) {
                    failures[places[Int(index)]] = failure
                }
            }
        }
        return BatchRefusal(failures, of: count, tookOthers: false)
    }

    /// The error, with Amplitude's own `error` unless it quotes the key. Throttled events wait 30 s by default.
    private func failure(now: Timestamp) -> PluginError {
        let words = refusesKey ? "the API key is invalid" : body?["error"]?.string
        var failure = response.failure(vendor: "amplitude", words: words, now: now)
        if refusesKey { failure.status = .unauthorized }
        if response.status == 429 { failure.retryAfter = failure.retryAfter ?? .seconds(30) }
        return failure
    }
}
