// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Kinto's format of records, which mixes Kinto's members with the application's.
enum KintoRecord {
    /// The members that Kinto reserves.
    static let ownNames = ["id", "last_modified", "schema", "deleted"]

    /// Reads the record under `data`.
    static func read(_ data: JSONValue) throws(PluginError) -> DatabaseRecord {
        guard var members = data.object, let id = data["id"]?.string else {
            throw PluginError(.protocolViolation, "the answer has no record with an id", domain: "kinto")
        }
        for name in ownNames { members[name] = nil }
        return DatabaseRecord(id: id, version: data["last_modified"]?.integer.map { "\($0)" }, data: members)
    }

    /// Throws for a record with a member whose name Kinto reserves.
    static func checked(_ record: JSONObject) throws(PluginError) -> JSONObject {
        for name in ownNames where record[name] != nil {
            throw PluginError(.invalid, "Kinto reserves the member \"\(name)\"", domain: "kinto")
        }
        return record
    }
}
