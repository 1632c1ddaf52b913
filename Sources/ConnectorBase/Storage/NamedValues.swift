// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Values by key, where most keys have names of their own: a dictionary by name, since a process takes as long as loading an image to
/// use another type of key for the first time.
package struct NamedValues<Key: Equatable, Value> {
    private var values: [String: [(key: Key, value: Value)]] = [:]

    /// Creates an empty table.
    package init() {}

    /// The value of a key with this name.
    package subscript(name: String, key: Key) -> Value? {
        get { values[name]?.first { $0.key == key }?.value }
        set {
            values[name]?.removeAll { $0.key == key }
            if let newValue { values[name, default: []].append((key, newValue)) }
        }
    }
}

extension NamedValues: Sendable where Key: Sendable, Value: Sendable {}
