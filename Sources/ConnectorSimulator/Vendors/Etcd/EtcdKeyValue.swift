// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A key of etcd with its value at one revision (etcd's `mvccpb.KeyValue`).
struct EtcdKeyValue: Sendable, Equatable {
    var key: [UInt8]
    var value: [UInt8]
    /// The revision in which the key was created.
    var created: Int64
    /// The revision of the last change.
    var modified: Int64
    /// The number of puts since the key was created, from 1; 0 for a deleted key.
    var version: Int64

    /// The gateway's JSON: 64-bit numbers are strings, and zero and empty members are left out.
    func json(hasValue: Bool = true) -> JSONValue {
        var object: JSONObject = ["key": .string(Base64.encode(key))]
        for (name, number) in [("create_revision", created), ("mod_revision", modified), ("version", version)]
        where number != 0 {
            object[name] = .string("\(number)")
        }
        if hasValue, !value.isEmpty { object["value"] = .string(Base64.encode(value)) }
        return .object(object)
    }
}

/// One key, or all keys from one to another.
struct EtcdRange: Sendable {
    var key: [UInt8]
    /// The first key after the range; nil for the single key, and one zero byte for every key from `key` on.
    var end: [UInt8]?

    func contains(_ other: [UInt8]) -> Bool {
        guard let end else { return other == key }
        return !other.lexicographicallyPrecedes(key) && (end == [0] || other.lexicographicallyPrecedes(end))
    }
}

/// A change of one key.
struct EtcdEvent: Sendable {
    var isDeletion: Bool
    /// The key after the change.
    var pair: EtcdKeyValue
    /// The key before the change; nil if there was none.
    var previous: EtcdKeyValue?

    func json(withPrevious: Bool) -> JSONValue {
        var object = JSONObject()
        if isDeletion { object["type"] = "DELETE" }
        object["kv"] = pair.json()
        if withPrevious, let previous { object["prev_kv"] = previous.json() }
        return .object(object)
    }
}
