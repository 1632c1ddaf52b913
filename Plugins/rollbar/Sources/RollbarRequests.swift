// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Rollbar, each with one item.
struct RollbarRequests {
    /// 512 KB per request, minus the JSON around the item.
    static let limits = BatchDelivery(itemBytes: 524_000, batchBytes: 524_000, batchCount: 1)

    /// The answer to an item that Rollbar took.
    static let taken = VendorAnswer(
        "rollbar",
        [.object(#"with "err": 0 and "result""#) { $0["err"] == 0 && $0["result"]?.object != nil }],
        isRefusal: { (try? $0.json())?["err"] == 1 }
    )

    let endpoint: HTTPURL
    /// The token's placeholder.
    let accessToken: String

    /// A request with an encoded item, and with the project's token unless another is given; for no bytes, the item has
    /// no content.
    func item(_ item: [UInt8], token: String? = nil) -> HTTPRequest {
        let content = item.isEmpty ? Array("{}".utf8) : item
        return HTTPRequest(
            .post,
            endpoint.appending(path: "/api/1/item/"),
            headers: ["Content-Type": "application/json", "X-Rollbar-Access-Token": token ?? accessToken],
            body: Array(#"{"data":"#.utf8) + content + Array("}".utf8)
        )
    }
}
