// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// What Parse Server answers.
enum ParseAnswer {
    /// The application's configuration.
    static let configuration = VendorAnswer("parse", [.object(#"with "params""#) { $0["params"]?.object != nil }])

    /// An object that was made.
    static let created = VendorAnswer("parse", statuses: 200...201, [.object(#"with "objectId""#, hasIdentifier)])

    /// An object.
    static let object = VendorAnswer("parse", [.object(#"with "objectId""#, hasIdentifier)])

    /// An object that was changed.
    static let updated = VendorAnswer("parse", [.object(#"with "updatedAt""#) { $0["updatedAt"]?.string != nil }])

    /// What a query found.
    static let results = VendorAnswer(
        "parse",
        [.object(#"with "results""#) { $0["results"]?.array?.allSatisfy(hasIdentifier) == true }]
    )

    /// An event that was taken; what else is in the object is the server's analytics adapter's.
    static let noted = VendorAnswer("parse", [.object(#"without "error""#) { $0["error"] == nil }])

    /// Something was done of which there is nothing to tell: `{}`.
    static let done = VendorAnswer("parse", [.object("that is empty") { $0.object?.isEmpty == true }])

    private static let hasIdentifier: @Sendable (JSONValue) -> Bool = { $0["objectId"]?.string?.isEmpty == false }
}
