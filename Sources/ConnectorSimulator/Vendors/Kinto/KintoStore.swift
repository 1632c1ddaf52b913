// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The objects of a Kinto server, by the path of each list.
struct KintoStore: Sendable {
    /// An object and its permissions.
    struct Stored: Sendable {
        var data: JSONObject
        var permissions: JSONObject
    }

    /// The objects of one list.
    private struct List: Sendable {
        var objects: [String: Stored] = [:]
        /// The tombstones of deleted objects, by which clients learn of deletions.
        var tombstones: [String: JSONObject] = [:]
        /// When the list last changed, in milliseconds since 1970; strictly increasing.
        var timestamp: Int64 = 0
    }

    /// The most objects kept, tombstones included.
    private static let capacity = 100_000
    /// The lists by path, for example `/buckets/b/collections`.
    private var lists: [String: List] = [:]
    /// The number of objects and tombstones.
    private var count = 0

    /// Whether the store has reached its capacity.
    var isFull: Bool { count >= Self.capacity }

    /// An object of a list; nil if there is none.
    func object(_ id: String, in list: String) -> Stored? { lists[list]?.objects[id] }

    /// The objects of a list and, if requested, the tombstones of deleted ones, in no order.
    func objects(in list: String, includingDeleted: Bool = false) -> [JSONObject] {
        guard let list = lists[list] else { return [] }
        let objects = list.objects.values.map(\.data)
        return includingDeleted ? objects + list.tombstones.values : objects
    }

    /// When a list last changed; for a list that was never accessed, `now`.
    mutating func timestamp(of list: String, now: Timestamp) -> Int64 {
        if let timestamp = lists[list]?.timestamp, timestamp > 0 { return timestamp }
        lists[list, default: List()].timestamp = now.milliseconds
        return now.milliseconds
    }

    /// Stores an object under a new timestamp, and returns it with id and timestamp filled in.
    mutating func put(
        _ data: JSONObject,
        permissions: JSONObject,
        id: String,
        in list: String,
        now: Timestamp
    ) -> Stored {
        var data = data
        let wanted = data["last_modified"]?.integer ?? 0
        data["last_modified"] = nil
        data["deleted"] = nil
        data["id"] = nil
        data["id"] = .string(id)
        data["last_modified"] = .integer(advance(list, to: wanted, now: now))
        let stored = Stored(data: data, permissions: permissions)
        if lists[list]?.tombstones.removeValue(forKey: id) != nil { count -= 1 }
        if lists[list]?.objects.updateValue(stored, forKey: id) == nil { count += 1 }
        return stored
    }

    /// Replaces an object with a tombstone, which it returns, and removes everything below the object.
    mutating func delete(_ id: String, in list: String, now: Timestamp) -> JSONObject {
        if lists[list]?.objects.removeValue(forKey: id) != nil { count -= 1 }
        let tombstone: JSONObject = [
            "id": .string(id), "last_modified": .integer(advance(list, to: 0, now: now)), "deleted": true,
        ]
        if lists[list]?.tombstones.updateValue(tombstone, forKey: id) == nil { count += 1 }
        let below = "\(list)/\(id)/"
        for path in lists.keys where path.hasPrefix(below) {
            if let gone = lists.removeValue(forKey: path) { count -= gone.objects.count + gone.tombstones.count }
        }
        return tombstone
    }

    /// Advances a list's timestamp, and returns it.
    private mutating func advance(_ list: String, to wanted: Int64, now: Timestamp) -> Int64 {
        let current = lists[list]?.timestamp ?? 0
        // A client may set a future time, but at most a day ahead, so that later timestamps remain.
        let latest = min(max(wanted, now.milliseconds), now.milliseconds + 86_400_000)
        let next = max(current + 1, latest)
        lists[list, default: List()].timestamp = next
        return next
    }
}
