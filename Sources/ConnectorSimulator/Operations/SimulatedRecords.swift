// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The records of a simulation, by collection and key, in the order in which they were first kept.
struct SimulatedRecords: Sendable {
    private struct Collection: Sendable {
        var records: [String: (order: Int, value: JSONValue)] = [:]
        var count = 0
    }

    private var collections: [String: Collection] = [:]

    /// A record; setting nil removes it.
    subscript(collection: String, key: String) -> JSONValue? {
        get { collections[collection]?.records[key]?.value }
        set {
            guard let newValue else {
                collections[collection]?.records[key] = nil
                return
            }
            var changed = collections.removeValue(forKey: collection) ?? Collection()
            let order = changed.records[key]?.order ?? changed.count
            changed.count += 1
            changed.records[key] = (order, newValue)
            collections[collection] = changed
        }
    }

    /// The records of a collection, oldest first.
    func all(in collection: String) -> [JSONValue] {
        (collections[collection]?.records.values).map { $0.sorted { $0.order < $1.order }.map(\.value) } ?? []
    }
}
