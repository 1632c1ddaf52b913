// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Parse Server's answers.
enum ParseAnswer {
    /// The application's configuration.
    static let configuration = VendorAnswer("parse", [.object(#"with "params""#) { $0["params"]?.object != nil }])

    /// A created object.
    static let created = VendorAnswer("parse", statuses: 200...201, [.object(#"with "objectId""#, hasIdentifier)])

    /// An object.
    static let object = VendorAnswer("parse", [.object(#"with "objectId""#, hasIdentifier)])

    /// A changed object.
    static let updated = VendorAnswer("parse", [.object(#"with "updatedAt""#) { $0["updatedAt"]?.string != nil }])

    /// The objects that a query found.
    static let results = VendorAnswer(
        "parse",
        [.object(#"with "results""#) { $0["results"]?.array?.allSatisfy(hasIdentifier) == true }]
    )

    /// An accepted event; the server's analytics adapter may add members.
    static let noted = VendorAnswer("parse", [.object(#"without "error""#) { $0["error"] == nil }])

    /// An operation succeeded without a result: `{}`.
    static let done = VendorAnswer("parse", [.object("that is empty") { $0.object?.isEmpty == true }])

    private static let hasIdentifier: @Sendable (JSONValue) -> Bool = { $0["objectId"]?.string?.isEmpty == false }
}
