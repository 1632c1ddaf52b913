// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to PostHog. The body contains the key's placeholder, so nothing else in it may look like one.
struct PostHogRequests {
    /// The limits of PostHog's own clients: 900 KiB per event, 5 MiB and 100 events per request.
    static let limits = BatchDelivery(itemBytes: 900 << 10, batchBytes: (5 << 20) - 256, batchCount: 100)

    let endpoint: HTTPURL
    let apiKey: SecretPlaceholder

    /// A batch of encoded events.
    func batch(_ events: [[UInt8]], sentAt: Timestamp) -> HTTPRequest {
        var body = Array(#"{"api_key":"\#(apiKey)","historical_migration":false,"sent_at":"\#(sentAt)","batch":["#.utf8)
        body.append(events, separator: UInt8(ascii: ","))
        body += Array("]}".utf8)
        var request = request("/batch/", body: body)
        request.isCompressed = !events.isEmpty
        return request
    }

    /// A request for feature flags that evaluates none.
    var flags: HTTPRequest {
        let body = #"{"api_key":"\#(apiKey)","distinct_id":"connector-host","disable_flags":true}"#
        var request = request("/flags/", body: Array(body.utf8))
        request.url = request.url.with("v", "2")
        return request
    }

    private func request(_ path: StaticString, body: [UInt8]) -> HTTPRequest {
        HTTPRequest(
            .post,
            endpoint.appending(path: path),
            headers: ["Content-Type": "application/json"],
            body: body,
            hasPlaceholdersInBody: true
        )
    }
}
