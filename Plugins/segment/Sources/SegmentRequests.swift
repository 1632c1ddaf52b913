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

    /// The name and version that events carry, if they name no other library.
    private static let library: StaticString = #"{"name":"connector-host","version":"1.0.0"}"#

    /// A batch of encoded events.
    func batch(_ events: [[UInt8]], sentAt: Timestamp) -> HTTPRequest {
        batch(sentAt: sentAt, isCompressed: !events.isEmpty) { $0.append(events, separator: UInt8(ascii: ",")) }
    }

    /// A batch of event texts, which are copied only into the body.
    func batch(of events: [AnalyticsEventText], sentAt: Timestamp) -> HTTPRequest {
        batch(sentAt: sentAt, isCompressed: true) { body in
            body.reserveCapacity(events.reduce(body.count + 16) { $0 + Self.size(of: $1) + 1 })
            for (index, event) in events.enumerated() {
                if index > 0 { body.append(UInt8(ascii: ",")) }
                event.append(to: &body, filling: "library", with: Self.library)
            }
        }
    }

    private func batch(sentAt: Timestamp, isCompressed: Bool, _ write: (inout [UInt8]) -> Void) -> HTTPRequest {
        var body = Array("{\"sentAt\":\"\(sentAt)\",\"batch\":[".utf8)
        write(&body)
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
            isCompressed: isCompressed
        )
    }

    /// A request for the source's settings, which Segment serves from a host other than the tracking API.
    var settings: HTTPRequest {
        let isSegment = endpoint.origin.hasSuffix("://api.segment.io")
        let origin = isSegment ? HTTPURL("https://cdn-settings.segment.com") ?? endpoint : endpoint
        let url = origin.appending(path: "/v1/projects").appending(writeKey).appending(path: "/settings")
        return HTTPRequest(.get, url)
    }

    /// Encodes an event; the model follows Segment's specification, whose times have milliseconds.
    static func encode(_ event: AnalyticsEvent, now: Timestamp) -> [UInt8] {
        var event = event
        event.timestamp = (event.timestamp ?? now).wholeMilliseconds
        if event.messageId.utf8.count > messageIdLimit { event.messageId = StableUUID.from(event.messageId) }
        if event.context["library"] == nil {
            event.context["library"] = ["name": "connector-host", "version": "1.0.0"]
        }
        return event.json.utf8()
    }

    /// The size of an event text, which passes unchanged except for the library's name.
    static func size(of event: AnalyticsEventText) -> Int { event.size(filling: "library", with: library) }
}
