// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Segment (segment.com/docs/connections/sources/catalog/libraries/server/http-api).
struct SegmentRequests {
    /// 32 KB per event, 500 KB per request minus the JSON around the events.
    static let limits = BatchDelivery(itemBytes: 32 << 10, batchBytes: (500 << 10) - 256, batchCount: 1000)

    /// Segment answers 200 and drops an event whose id has 100 characters or more (segment.com/docs/connections/spec/common).
    static let messageIdLimit = 99

    let endpoint: HTTPURL
    let writeKey: SecretPlaceholder

    /// A batch of encoded events.
    func batch(_ events: [[UInt8]], sentAt: Timestamp) -> HTTPRequest {
        var body = Array("{\"sentAt\":\"\(sentAt)\",\"batch\":[".utf8)
        body.append(events, separator: UInt8(ascii: ","))
        body += Array("]}".utf8)
        let headers: HTTPFields = [
            "Authorization": SecretPlaceholder.basicCredentials(user: writeKey.text, password: ""),
            "Content-Type": "application/json",
        ]
        return HTTPRequest(
            .post,
            endpoint.appending(path: "/v1/batch"),
            headers: headers,
            body: body,
            isCompressed: !events.isEmpty
        )
    }

    /// A request for the source's settings, which Segment serves from a host other than the tracking API.
    var settings: HTTPRequest {
        let isSegment = endpoint.origin.hasSuffix("://api.segment.io")
        let origin = isSegment ? HTTPURL("https://cdn-settings.segment.com") ?? endpoint : endpoint
        let url = origin.appending(path: "/v1/projects").appending(writeKey).appending(path: "/settings")
        return HTTPRequest(.get, url)
    }

    /// Encodes an event; the model follows Segment's specification.
    static func encode(_ event: AnalyticsEvent, now: Timestamp) -> [UInt8] {
        var event = event
        event.timestamp = event.timestamp ?? now
        if event.messageId.utf8.count > messageIdLimit { event.messageId = StableUUID.from(event.messageId) }
        if event.context["library"] == nil {
            event.context["library"] = ["name": "connector-host", "version": "1.0.0"]
        }
        return event.json.utf8()
    }

    /// Encodes an event text, which passes unchanged except for the library's name.
    static func encode(_ event: AnalyticsEventText) -> [UInt8] {
        event.utf8(filling: "library", with: #"{"name":"connector-host","version":"1.0.0"}"#)
    }
}
