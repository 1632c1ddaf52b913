// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The part of an object to return: selected fields, and the objects that its pointers refer to.
struct ParseProjection {
    /// The fields to return; empty for all.
    private let keys: [String]
    /// The fields to omit.
    private let excluded: [String]
    /// The paths of pointers to follow.
    private let included: [String]

    /// Reads `keys`, `excludeKeys` and `include`.
    init(_ values: JSONObject) {
        keys = Self.names(values["keys"])
        excluded = Self.names(values["excludeKeys"])
        included = Self.names(values["include"])
    }

    /// Parses names separated by commas, or in an array.
    static func names(_ value: JSONValue?) -> [String] {
        if let array = value?.array { return array.compactMap(\.string) }
        return value?.string?.split(ascii: ",").map { $0.trimmingBlanks() } ?? []
    }

    /// The object as returned to the client.
    func apply(to object: JSONObject, in store: ParseStore) -> JSONObject {
        var object = object
        for path in included.prefix(32) {
            object = Self.follow(path.split(ascii: ".").prefix(8), in: object, store: store)
        }
        let always = ["objectId", "createdAt", "updatedAt", "ACL"]
        let roots = keys.map { String($0.prefix(before: ".")) }
        return JSONObject(
            object.members
                .filter {
                    (keys.isEmpty || roots.contains($0.name) || always.contains($0.name)) && !excluded.contains($0.name)
                }
                .map { ($0.name, $0.value) }
        )
    }

    /// Replaces pointers on a path by their objects.
    private static func follow(
        _ path: ArraySlice<Substring>,
        in object: JSONObject,
        store: ParseStore
    ) -> JSONObject {
        guard let name = path.first.map(String.init), let value = object[name] else { return object }
        var object = object
        if case .array(let elements) = value {
            object[name] = .array(elements.map { replace($0, path.dropFirst(), store: store) })
        } else {
            object[name] = replace(value, path.dropFirst(), store: store)
        }
        return object
    }

    /// The object that a pointer refers to; any other value unchanged.
    private static func replace(_ value: JSONValue, _ rest: ArraySlice<Substring>, store: ParseStore) -> JSONValue {
        guard let pointer = value.object else { return value }
        guard pointer["__type"] == "Pointer" else { return .object(follow(rest, in: pointer, store: store)) }
        guard let name = pointer["className"]?.string, let id = pointer["objectId"]?.string,
            var target = store.object(id, of: name)
        else { return value }
        target["__type"] = "Object"
        target["className"] = .string(name)
        return .object(follow(rest, in: target, store: store))
    }
}
