// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Bugsnag. The body contains the key's placeholder, so nothing else in it may look like one.
struct BugsnagRequests {
    /// 1 MB per request, minus the JSON around the events.
    static let limits = BatchDelivery(itemBytes: 999_000, batchBytes: 999_000, batchCount: 10)

    /// Any 2xx, because the documentation promises no body. Bugsnag sends `OK`, its forwarding agent text that begins
    /// with `OK`, other servers nothing or a status in JSON.
    static let accepted = VendorAnswer(
        "bugsnag",
        statuses: 200...299,
        [
            .text("OK"), .text("Accepted"), .empty,
            .object(#"that is empty or has "status": "accepted""#) { body in
                body.object?.isEmpty == true || body["success"] == true
                    || ["accepted", "ok", "success"].contains(body["status"]?.string?.lowercased())
            },
        ],
        isRefusal: { (try? $0.json())?["errors"]?.array?.contains { $0.string != nil } == true }
    )

    let endpoint: HTTPURL
    /// The key, or its placeholder.
    let apiKey: String

    /// A request with encoded events.
    func notify(_ events: [[UInt8]], sentAt: Timestamp) -> HTTPRequest {
        let notifier = #"{"name":"connector-host","version":"1.0.0","url":""}"#
        var body = Array(#"{"apiKey":"\#(apiKey)","payloadVersion":"4.0","notifier":\#(notifier),"events":["#.utf8)
        body.append(events, separator: UInt8(ascii: ","))
        body += Array("]}".utf8)
        return HTTPRequest(
            .post,
            endpoint.appending(path: "/"),
            headers: [
                "Content-Type": "application/json", "Bugsnag-Api-Key": apiKey, "Bugsnag-Payload-Version": "4.0",
                "Bugsnag-Sent-At": "\(sentAt)",
            ],
            body: body,
            hasPlaceholdersInBody: true
        )
    }
}
