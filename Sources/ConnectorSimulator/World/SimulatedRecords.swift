// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The records of a simulation, by collection and key, in the order in which they were first kept.
struct SimulatedRecords: Sendable {
    /// The most bytes of all records together, counted roughly as JSON.
    static let sizeLimit = 64 << 20

    private struct Record: Sendable {
        var order: Int
        var size: Int
        var value: JSONValue
    }

    private var collections: [String: [String: Record]] = [:]
    private var count = 0
    private var size = 0

    /// A record; nil if there is none.
    subscript(collection: String, key: String) -> JSONValue? { collections[collection]?[key]?.value }

    /// Keeps a record, which replaces an earlier one with the same key, and returns it.
    ///
    /// - Throws: `too-large` if the record, or all records together, would be too large.
    mutating func keep(
        _ kept: OperationAnswer.Kept,
        _ values: JSONTemplate.Values
    ) throws(ConnectorError) -> JSONValue {
        let (collection, key) = try kept.record.filled(values)
        let value = try kept.value.filled(values)
        var budget = TemplateBudget()
        try budget.take(value, at: 0)
        // A record costs more than its text: its key twice, and its place in a table.
        let newSize = budget.taken + 2 * key.utf8.count + collection.utf8.count + 100
        let old = collections[collection]?[key]
        guard size - (old?.size ?? 0) + newSize <= Self.sizeLimit else {
            throw ConnectorError(
                .tooLarge,
                "the records of the simulation would have more than \(Self.sizeLimit >> 20) MiB"
            )
        }
        size += newSize - (old?.size ?? 0)
        count += 1
        collections[collection, default: [:]][key] = Record(order: old?.order ?? count, size: newSize, value: value)
        return value
    }

    /// Removes a record, if it exists.
    mutating func remove(_ collection: String, _ key: String) {
        guard let old = collections[collection]?.removeValue(forKey: key) else { return }
        size -= old.size
        if collections[collection]?.isEmpty == true { collections[collection] = nil }
    }

    /// The records of a collection, in the order in which they were first kept.
    func all(in collection: String) -> [JSONValue] {
        (collections[collection]?.values).map { $0.sorted { $0.order < $1.order }.map(\.value) } ?? []
    }
}
