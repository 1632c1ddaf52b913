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

    /// Whether a refusal says that the collection does not exist. Kinto names what is missing, so that nothing else is taken for it: neither
    /// a proxy's 404 nor an address that Kinto does not know.
    static func lacksCollection(_ response: HTTPResponse) -> Bool {
        response.status == 404 && missingResource(try? response.json()) == "collection"
    }

    /// What a refusal with status 404 calls missing, such as `record`; nil if it names nothing.
    static func missingResource(_ body: JSONValue?) -> String? {
        // Servers before version 5 name nothing, but a record's number is its own.
        body?["details"]?["resource_name"]?.string ?? (body?["errno"] == 110 ? "record" : nil)
    }

    private static func hasIdentifier(_ data: JSONValue?) -> Bool {
        data?["id"]?.string?.isEmpty == false
    }
}
