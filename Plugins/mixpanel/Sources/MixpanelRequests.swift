// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Mixpanel. Profiles contain the token's placeholder, so nothing else in a body may look like one.
struct MixpanelRequests {
    /// 2000 items and 2 MB per request, and 1 MB per event.
    static let limits = BatchDelivery(itemBytes: 1_000_000, batchBytes: 2_000_000, batchCount: 2000)

    /// The answer to events that Mixpanel took.
    static let imported = VendorAnswer(
        "mixpanel",
        [.object(#"with "num_records_imported""#) { $0["code"] == 200 && $0["num_records_imported"]?.integer != nil }]
    ) { $0.isCodedError }

    /// The answer to profiles: its status is 1 if Mixpanel took them, otherwise 0.
    static let updated = VendorAnswer(
        "mixpanel",
        [.object(#"with "status": 1"#) { $0["status"] == 1 || $0["status"] == 0 && $0["error"]?.string != nil }]
    ) { $0.isCodedError || (try? $0.json())?["status"] == 0 }

    let endpoint: HTTPURL
    /// The token's placeholder.
    let token: String

    /// An import of encoded events, which Mixpanel checks one by one; with the project's token unless another is given.
    func events(_ items: [[UInt8]], token: String? = nil) -> HTTPRequest {
        var request = request(endpoint.appending(path: "/import").with("strict", "1"), items)
        request.headers["Authorization"] = SecretPlaceholder.basicCredentials(user: token ?? self.token, password: "")
        request.isCompressed = !items.isEmpty
        return request
    }

    /// An update of encoded profiles.
    func profiles(ofGroups: Bool, _ items: [[UInt8]]) -> HTTPRequest {
        request(endpoint.appending(path: ofGroups ? "/groups" : "/engage").with("verbose", "1"), items, isSecret: true)
    }

    private func request(_ url: HTTPURL, _ items: [[UInt8]], isSecret: Bool = false) -> HTTPRequest {
        let headers: HTTPFields = ["Content-Type": "application/json"]
        var body = [UInt8(ascii: "[")]
        body.append(items, separator: UInt8(ascii: ","))
        body.append(UInt8(ascii: "]"))
        return HTTPRequest(.post, url, headers: headers, body: body, hasPlaceholdersInBody: isSecret)
    }
}
