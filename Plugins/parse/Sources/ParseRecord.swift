// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Parse's format of objects, which mixes Parse's members with the application's.
enum ParseRecord {
    /// The members that Parse reserves.
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

    /// Throws for a record with a member whose name Parse reserves.
    static func checked(_ record: JSONObject) throws(PluginError) -> JSONObject {
        for name in ownNames where record[name] != nil {
            throw PluginError(.invalid, "Parse reserves the member \"\(name)\"", domain: "parse")
        }
        return record
    }
}
