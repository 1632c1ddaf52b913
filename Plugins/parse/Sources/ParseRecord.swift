// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Parse's form of objects, which mixes its own members with the application's.
enum ParseRecord {
    /// The members that are Parse's own.
    static let ownNames = ["objectId", "createdAt", "updatedAt", "ACL", "className", "__type"]

    /// Reads an object.
    static func read(_ object: JSONValue) throws(PluginError) -> DatabaseRecord {
        guard var members = object.object, let id = object["objectId"]?.string else {
            throw PluginError(.protocolViolation, "the answer has no object with an objectId", domain: "parse")
        }
        for name in ownNames { members[name] = nil }
        let version = object["updatedAt"]?.string ?? object["createdAt"]?.string
        return DatabaseRecord(id: id, version: version, data: members)
    }

    /// Throws for a record with a member of Parse's own names.
    static func checked(_ record: JSONObject) throws(PluginError) -> JSONObject {
        for name in ownNames where record[name] != nil {
            throw PluginError(.invalid, "a record in Parse has no member \"\(name)\" of its own", domain: "parse")
        }
        return record
    }
}
