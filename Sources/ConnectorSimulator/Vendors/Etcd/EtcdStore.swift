// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The keys of a simulated etcd, and their changes since the last compaction.
struct EtcdStore: Sendable {
    /// The revision of the last change; a new server starts at 1.
    private(set) var revision: Int64 = 1
    /// The oldest revision that can still be read; the changes after it are kept, earlier revisions are compacted.
    private(set) var compacted: Int64 = 0
    private var pairs: [[UInt8]: EtcdKeyValue] = [:]
    private(set) var events: [EtcdEvent] = []
    private var size = 0

    /// The most bytes of keys and values, including those that changes replaced: more than a test needs.
    static let sizeLimit = 64 << 20
    /// The most changes that are remembered.
    static let eventLimit = 10_000

    /// The pairs of a range in the order of their keys, at a revision; 0 for the current one.
    func pairs(in range: EtcdRange, at revision: Int64 = 0) throws(EtcdFailure) -> [EtcdKeyValue] {
        guard revision <= self.revision else { throw .future }
        guard revision <= 0 || revision >= compacted else { throw .compacted }
        var found = pairs
        if revision > 0 {
            for event in events.reversed() where event.pair.modified > revision {
                found[event.pair.key] = event.previous
            }
        }
        if range.end == nil { return found[range.key].map { [$0] } ?? [] }
        return found.values.filter { range.contains($0.key) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// Makes changes, all in the next revision; a body that throws changes nothing.
    ///
    /// - Returns: The body's answer, and the changes that it made.
    mutating func change<Answer>(
        _ body: (inout EtcdStore) throws(EtcdFailure) -> Answer
    ) throws(EtcdFailure) -> (answer: Answer, events: [EtcdEvent]) {
        var next = self
        next.revision += 1
        let answer = try body(&next)
        let made = Array(next.events.dropFirst(events.count))
        if made.isEmpty { next.revision = revision }
        next.forgetOldest()
        self = next
        return (answer, made)
    }

    /// Stores a value under a key, in the revision of the change.
    ///
    /// - Returns: The pair that was there before.
    mutating func put(_ key: [UInt8], _ value: [UInt8]) throws(EtcdFailure) -> EtcdKeyValue? {
        guard size + key.count + value.count <= Self.sizeLimit else { throw .noSpace }
        size += key.count + value.count
        let old = pairs[key]
        let new = EtcdKeyValue(
            key: key,
            value: value,
            created: old?.created ?? revision,
            modified: revision,
            version: (old?.version ?? 0) + 1
        )
        pairs[key] = new
        events.append(EtcdEvent(isDeletion: false, pair: new, previous: old))
        return old
    }

    /// Removes the keys of a range, in the revision of the change.
    ///
    /// - Returns: The pairs that were there before.
    mutating func remove(_ range: EtcdRange) throws(EtcdFailure) -> [EtcdKeyValue] {
        let found = try pairs(in: range)
        for old in found {
            pairs[old.key] = nil
            size += old.key.count
            let mark = EtcdKeyValue(key: old.key, value: [], created: 0, modified: revision, version: 0)
            events.append(EtcdEvent(isDeletion: true, pair: mark, previous: old))
        }
        return found
    }

    /// Forgets the changes up to a revision.
    mutating func compact(to revision: Int64) throws(EtcdFailure) {
        guard revision <= self.revision else { throw .future }
        guard revision > compacted else { throw .compacted }
        compacted = revision
        events.removeAll { $0.pair.modified <= revision }
        size = pairs.values.reduce(0) { $0 + $1.key.count + $1.value.count }
    }

    /// Compacts whole revisions when the store grows large, as etcd's auto-compaction does.
    private mutating func forgetOldest() {
        guard events.count > Self.eventLimit || size > Self.sizeLimit / 2, !events.isEmpty else { return }
        let last = events[events.count / 2].pair.modified
        if last < revision { try? compact(to: last) }
    }
}
