// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Amplitude. The body contains the key's placeholder, so nothing else in it may look like one.
struct AmplitudeRequests {
    /// 1 MB per request, minus the JSON around the events, and 2000 events, of which a group with traits takes two.
    static let limits = BatchDelivery(itemBytes: 999_424, batchBytes: 999_424, batchCount: 1000)

    let endpoint: HTTPURL
    /// The key's placeholder.
    let apiKey: String
    let minIdLength: Int64

    /// An upload of encoded events, with the project's key unless another is given.
    func upload(_ events: [[UInt8]], key: String? = nil) -> HTTPRequest {
        var body = Array(#"{"options":{"min_id_length":\#(minIdLength)},"api_key":"\#(key ?? apiKey)","events":["#.utf8)
        body.append(events, separator: UInt8(ascii: ","))
        body += Array("]}".utf8)
        var request = HTTPRequest(.post, endpoint.appending(path: "/2/httpapi"), body: body)
        request.hasPlaceholdersInBody = true
        request.headers["Content-Type"] = "application/json"
        return request
    }
}
