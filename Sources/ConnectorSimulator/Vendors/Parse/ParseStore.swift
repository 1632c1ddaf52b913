// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The classes of a Parse application, with the types of their fields.
struct ParseStore: Sendable {
    /// One class.
    private struct Class: Sendable {
        var objects: [String: JSONObject] = [:]
        /// The type of each field, set by its first value.
        var types: [String: String] = [:]
    }

    /// The most objects kept.
    private static let capacity = 100_000
    /// The classes by name.
    private var classes: [String: Class] = [:]
    /// The number of objects.
    private var count = 0
    /// The ids of answered requests, oldest first, and as a set.
    private var requestIDs: (order: [String], known: Set<String>) = ([], [])

    /// Every object of a class, in no order.
    func objects(of name: String) -> [JSONObject] {
        classes[name].map { Array($0.objects.values) } ?? []
    }

    /// One object.
    func object(_ id: String, of name: String) -> JSONObject? {
        classes[name]?.objects[id]
    }

    /// Records a request id; returns false for a duplicate.
    mutating func remember(_ requestID: String) -> Bool {
        guard requestIDs.known.insert(requestID).inserted else { return false }
        requestIDs.order.append(requestID)
        if requestIDs.order.count > 10_000 {
            for old in requestIDs.order.prefix(5000) { requestIDs.known.remove(old) }
            requestIDs.order.removeFirst(5000)
        }
        return true
    }

    /// Adds an object and returns its id.
    mutating func create(_ fields: JSONObject, of name: String, now: Timestamp) throws(ParseFailure) -> String {
        guard count < Self.capacity else { throw ParseFailure(code: 1, message: "Internal server error.") }
        // Ids of the client's own need the server's option allowCustomObjectId. What JavaScript takes for false counts as absent.
        let nothing: [JSONValue] = [.null, false, 0, ""]
        for field in ["objectId", "id"] {
            guard let value = fields[field], !nothing.contains(value) else { continue }
            throw .invalidName(field)
        }
        var object = JSONObject()
        var types = classes[name]?.types ?? [:]
        _ = try Self.apply(fields, to: &object, of: name, types: &types)
        let id = Identifier.alphanumeric(10)
        object["objectId"] = .string(id)
        object["createdAt"] = .string(now.description)
        object["updatedAt"] = .string(now.description)
        classes[name, default: Class()].types = types
        classes[name]?.objects[id] = object
        count += 1
        return id
    }

    /// Changes fields of an object and returns the results of operations on them.
    mutating func update(
        _ id: String,
        with fields: JSONObject,
        of name: String,
        now: Timestamp
    ) throws(ParseFailure) -> JSONObject {
        guard var object = object(id, of: name) else { throw .objectNotFound }
        guard fields["objectId"] == nil else { throw .invalidName("objectId") }
        var types = classes[name]?.types ?? [:]
        let results = try Self.apply(fields, to: &object, of: name, types: &types)
        object["updatedAt"] = .string(now.description)
        classes[name]?.types = types
        classes[name]?.objects[id] = object
        return results
    }

    /// Removes an object.
    mutating func delete(_ id: String, of name: String) throws(ParseFailure) {
        guard classes[name]?.objects.removeValue(forKey: id) != nil else { throw .objectNotFound }
        count -= 1
    }

    /// Writes every field, after checking it against the type of its column.
    private static func apply(
        _ fields: JSONObject,
        to object: inout JSONObject,
        of name: String,
        types: inout [String: String]
    ) throws(ParseFailure) -> JSONObject {
        var results = JSONObject()
        for member in fields.members {
            let field = member.name
            if ["objectId", "createdAt", "updatedAt"].contains(field) { continue }
            guard field.isCIdentifier else {
                throw ParseFailure(code: 105, message: "Invalid field name: \(field).")
            }
            let operation = ParseOperation(member.value)
            let old = object[field]
            let new = try operation.applied(to: old)
            if let new, new != .null {
                let type = ParseType.name(of: new)
                if let known = types[field], known != type {
                    let message = "schema mismatch for \(name).\(field); expected \(known) but got \(type)"
                    throw ParseFailure(code: 111, message: message)
                }
                types[field] = type
            }
            object[field] = new
            if operation.answersResult, let new { results[field] = new }
        }
        return results
    }
}
