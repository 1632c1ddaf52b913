// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension JSONObject {
    /// Sets a member unless the value is nil.
    package mutating func set(_ name: String, _ value: String?) {
        if let value { self[name] = .string(value) }
    }

    /// Sets a member unless the value is nil.
    package mutating func set(_ name: String, _ value: Int?) {
        if let value { self[name] = .integer(Int64(value)) }
    }

    /// Sets a member unless the value is nil.
    package mutating func set(_ name: String, _ value: Timestamp?) {
        if let value { self[name] = .string(value.description) }
    }

    /// Sets a member unless the value is empty.
    package mutating func set(_ name: String, _ value: JSONObject) {
        if !value.isEmpty { self[name] = .object(value) }
    }

    /// Sets a member unless the value is empty.
    package mutating func set(_ name: String, _ value: [JSONValue]) {
        if !value.isEmpty { self[name] = .array(value) }
    }
}
