// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Sentry.
struct SentryRequests {
    /// One event of at most 1 MB in each request.
    static let limits = BatchDelivery(itemBytes: 1_000_000, batchBytes: 1_000_001, batchCount: 1)

    private static let identified = VendorAnswer.Form.object(#"with "id""#) { $0["id"]?.string?.isEmpty == false }

    /// The answer to an event: its id.
    static let accepted = VendorAnswer("sentry", [identified], isRefusal: { SentryRequests.isRefusal($0) })

    /// The answer to an event from servers that answer envelopes with an empty body, such as Bugsink before 2.3.
    static let acceptedSilently = VendorAnswer(
        "sentry",
        [identified, .empty],
        isRefusal: { SentryRequests.isRefusal($0) }
    )

    /// Whether these are the words of a server for reports.
    private static func isRefusal(_ response: HTTPResponse) -> Bool {
        (try? response.json())?["detail"]?.string != nil && !response.isGatewaysRefusal
    }

    /// The answer to an envelope without items, which has no id: Relay sends `{}`, other servers an empty body.
    static let received = VendorAnswer(
        "sentry",
        [.object(#"that is empty or has "id""#) { $0.object?.isEmpty == true || $0["id"]?.string != nil }, .empty],
        isRefusal: { SentryRequests.isRefusal($0) }
    )

    let dsn: SentryDSN

    /// Creates an envelope: a header line and, for an item, a header line, its bytes and a line end.
    ///
    /// - Parameters:
    ///   - item: An encoded event; nil for an envelope without items.
    ///   - id: The event's id.
    func envelope(item: [UInt8]?, id: String?, sentAt: Timestamp) throws(PluginError) -> HTTPRequest {
        guard let url = dsn.envelopeURL else {
            throw PluginError(.invalid, "dsn must be like https://KEY@HOST/PROJECT", domain: "sentry")
        }
        var header: JSONObject = ["dsn": .string(dsn.text), "sent_at": .string("\(sentAt)"), "sdk": SentryEvents.sdk]
        if let id { header["event_id"] = .string(id) }
        var body = JSONValue.object(header).utf8() + Array("\n".utf8)
        if let item {
            let itemHeader: JSONValue = [
                "type": "event", "length": .integer(Int64(item.count)), "content_type": "application/json",
            ]
            body += itemHeader.utf8() + Array("\n".utf8) + item + Array("\n".utf8)
        }
        return HTTPRequest(
            .post,
            url,
            headers: [
                "Content-Type": "application/x-sentry-envelope",
                "X-Sentry-Auth":
                    "Sentry sentry_key=\(dsn.publicKey), sentry_version=7, sentry_client=connector-host/1.0.0",
            ],
            body: body,
            isCompressed: item != nil
        )
    }
}
