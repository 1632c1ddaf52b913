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

    /// The record as the server has stored it: its answer to a write has what its own code (`beforeSave`) has changed or removed.
    static func stored(_ record: JSONObject, id: String, version: String?, answer: JSONValue) -> DatabaseRecord {
        var data = record
        // The answer to the creation of a user also has a token, which is no member of the object.
        for member in answer.object?.members ?? [] where !(ownNames + ["sessionToken"]).contains(member.name) {
            if member.value["__op"] == nil { data[member.name] = member.value } else { data[member.name] = nil }
        }
        return DatabaseRecord(id: id, version: version, data: data)
    }

    /// Throws for a record that Parse would not store as it is: with a member whose name it reserves or reads as a path, or with a value
    /// that it would perform or round.
    static func checked(_ record: JSONObject) throws(PluginError) -> JSONObject {
        for member in record.members {
            let name = "\"\(member.name.prefix(80))\""
            // Some names with an underscore are parameters of the request, such as `_method`; the others are invalid.
            guard !ownNames.contains(member.name), member.name.utf8.first != UInt8(ascii: "_") else {
                throw PluginError(.invalid, "Parse reserves the member \(name)", domain: "parse")
            }
            guard !member.name.utf8.contains(UInt8(ascii: ".")) else {
                throw PluginError(.invalid, "Parse reads the dot in \(name) as a step into an object", domain: "parse")
            }
            if let problem = problem(in: member.value) {
                throw PluginError(.invalid, "the member \(name) contains \(problem)", domain: "parse")
            }
        }
        return record
    }

    /// What Parse would not store as it is, in a value or anywhere within it.
    private static func problem(in value: JSONValue) -> String? {
        switch value {
        case .object(let members):
            guard members["__op"] == nil else {
                return "an object with \"__op\", an operation that Parse would perform and not store"
            }
            return members.members.lazy.compactMap { problem(in: $0.value) }.first
        case .array(let elements): return elements.lazy.compactMap { problem(in: $0) }.first
        case .integer(let number) where number.magnitude > 1 << 53:
            return "\(number), which Parse would round; give it as a text"
        default: return nil
        }
    }
}
