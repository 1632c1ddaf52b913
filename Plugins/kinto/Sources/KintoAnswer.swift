// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Kinto's answers.
enum KintoAnswer {
    /// The server's description, with `user` only if it accepted the credentials.
    static let root = VendorAnswer(
        "kinto",
        [.object(#"with "http_api_version""#) { $0["http_api_version"]?.string != nil || $0["user"]?["id"] != nil }]
    )

    /// A bucket, a collection or a record that was created, found, changed or deleted.
    static let object = VendorAnswer(
        "kinto",
        statuses: 200...201,
        [.object(#"with "data""#) { hasIdentifier($0["data"]) }]
    )

    /// The records that a query found.
    static let list = VendorAnswer(
        "kinto",
        [.object(#"with an array "data""#) { $0["data"]?.array?.allSatisfy { hasIdentifier($0) } == true }]
    )

    private static func hasIdentifier(_ data: JSONValue?) -> Bool {
        data?["id"]?.string?.isEmpty == false
    }
}
