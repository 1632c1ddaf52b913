// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// Which configuration a host runs, and whether its file says something else.
public struct ConfigurationReport: Sendable {
    /// The SHA-256 of the files that run, in hexadecimal.
    public var digest: String
    /// When the host began to run these files.
    public var since: Timestamp
    /// Why the file, which differs from what runs, is not in use; empty if the last reload applied it.
    ///
    /// An error with the path of a connector says why that connector stayed as it was.
    public var errors: [ConnectorError] = []

    /// How the host notices changes of its files; nil if it does not watch them.
    public var watching: FileWatching?

    /// Whether the file is known to differ from what runs.
    public var differs: Bool { !errors.isEmpty }
}

extension ConfigurationReport {
    /// The configuration's part of the document.
    var json: JSONValue {
        var object: JSONObject = ["sha256": .string(digest), "since": .string(since.description)]
        if differs { object["errors"] = .array(errors.map(\.json)) }
        object["watching"] = watching.map(\.json)
        return .object(object)
    }

    /// Reads the document; nil if a member is missing.
    init?(json: JSONValue) {
        guard let digest = json["sha256"]?.string, let since = json["since"]?.string.flatMap(Timestamp.init(parsing:))
        else { return nil }
        self.init(digest: digest, since: since)
        watching = json["watching"].flatMap(FileWatching.init(json:))
        errors = json["errors"]?.array?.compactMap(ConnectorError.init(json:)) ?? []
    }
}
