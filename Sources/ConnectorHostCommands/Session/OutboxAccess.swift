// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorControl
internal import ConnectorManifest
internal import ConnectorOutbox

/// The outbox, as an operator's commands see it: of the connectors that they mean, or of all.
protocol OutboxAccess: Sendable {
    /// How much waits for each connector.
    func standings() async throws(ConnectorError) -> [String: Standing]
    /// An event at each connector that gets it.
    ///
    /// - Throws: `missing` if the id is unknown.
    func event(_ id: String) async throws(ConnectorError) -> [OutboxRecord]
    /// Dead letters, oldest first, and the place after which there may be more.
    ///
    /// - Parameter place: Where to go on; nil to begin with the first.
    func dead(
        limit: Int,
        after place: RecordPlace?
    ) async throws(ConnectorError) -> (letters: [OutboxRecord], next: RecordPlace?)
    /// Puts dead letters back in the queue.
    ///
    /// - Parameter ids: Nil for all.
    /// - Throws: `missing` if no id is one of theirs.
    func replay(_ ids: [String]?) async throws(ConnectorError) -> Int
    /// Drops dead letters, and perhaps waiting events, for good.
    func drop(_ ids: [String]?, queued: Bool) async throws(ConnectorError) -> Int
}

/// The store itself, beside whoever else uses it.
struct StoredOutbox: OutboxAccess {
    /// The store; nil if there is none yet.
    let engine: (any OutboxEngine)?
    /// The connectors of the file.
    let paths: [String]
    /// The connector that is meant; nil for all.
    let gate: String?

    func standings() async throws(ConnectorError) -> [String: Standing] {
        let standings = try await engine?.standings() ?? [:]
        let targets = try targets(standings)
        return standings.filter { targets?.contains($0.key) ?? true }
    }

    func event(_ id: String) async throws(ConnectorError) -> [OutboxRecord] {
        let records = try await engine?.records(RecordSelection(targets: try await targets(), ids: [id])) ?? []
        guard records.isEmpty else { return records }
        throw OutboxDocument.unknownEvent(id)
    }

    func dead(
        limit: Int,
        after place: RecordPlace?
    ) async throws(ConnectorError) -> (letters: [OutboxRecord], next: RecordPlace?) {
        let targets = try await targets()
        let selection = RecordSelection(targets: targets, states: [.dead], limit: limit, after: place)
        let letters = try await engine?.records(selection) ?? []
        return (letters, letters.next(limit: limit))
    }

    func replay(_ ids: [String]?) async throws(ConnectorError) -> Int {
        try check(try await engine?.replay(try await selection(ids, [.dead])) ?? 0, ids)
    }

    func drop(_ ids: [String]?, queued: Bool) async throws(ConnectorError) -> Int {
        try check(try await engine?.drop(try await selection(ids, queued ? [.dead, .queued] : [.dead])) ?? 0, ids)
    }

    private func selection(
        _ ids: [String]?,
        _ states: Set<OutboxRecord.State>
    ) async throws(ConnectorError) -> RecordSelection {
        RecordSelection(targets: try await targets(), ids: ids.map(Set.init), states: states)
    }

    private func targets() async throws(ConnectorError) -> Set<String>? {
        gate == nil ? nil : try targets(try await engine?.standings() ?? [:])
    }

    private func targets(_ standings: [String: Standing]) throws(ConnectorError) -> Set<String>? {
        guard let gate else { return nil }
        return try OutboxDocument.targets(of: gate, among: Set(standings.keys).union(paths))
    }

    /// Ids that mean nothing are an error.
    private func check(_ count: Int, _ ids: [String]?) throws(ConnectorError) -> Int {
        guard count > 0 || ids == nil else { throw OutboxDocument.unknownLetters }
        return count
    }
}

/// The outbox of a host that runs.
struct AttachedOutbox: OutboxAccess {
    /// The host.
    let host: AttachedHost
    /// The connector that is meant; nil for all.
    let gate: String?

    func standings() async throws(ConnectorError) -> [String: Standing] {
        try read(await host.document("/api/v1/outbox", [("connector", gate)]), OutboxDocument.standings(json:))
    }

    func event(_ id: String) async throws(ConnectorError) -> [OutboxRecord] {
        let path = "/api/v1/outbox/\(PercentCoding.encode(id))"
        return try read(await host.document(path, [("connector", gate)]), OutboxDocument.event(json:))
    }

    func dead(
        limit: Int,
        after place: RecordPlace?
    ) async throws(ConnectorError) -> (letters: [OutboxRecord], next: RecordPlace?) {
        let limit = min(limit, ControlAPI.recordLimit)
        let query = [("connector", gate), ("limit", "\(limit)"), ("after", place?.description)]
        return try read(await host.document("/api/v1/dead", query), OutboxDocument.dead(json:))
    }

    func replay(_ ids: [String]?) async throws(ConnectorError) -> Int {
        try read(await host.act("/api/v1/dead/replay", body(ids))) { $0["replayed"]?.integer.map { Int(clamping: $0) } }
    }

    func drop(_ ids: [String]?, queued: Bool) async throws(ConnectorError) -> Int {
        var body = body(ids)
        body["queued"] = queued ? true : nil
        return try read(await host.act("/api/v1/dead/drop", body)) { $0["dropped"]?.integer.map { Int(clamping: $0) } }
    }

    private func body(_ ids: [String]?) -> JSONObject {
        var body = JSONObject()
        body["ids"] = ids.map { .array($0.map(JSONValue.string)) }
        body["all"] = ids == nil ? true : nil
        body["connector"] = gate.map(JSONValue.string)
        return body
    }

    private func read<Value>(_ document: JSONValue, _ read: (JSONValue) -> Value?) throws(ConnectorError) -> Value {
        guard let value = read(document) else { throw host.misunderstood("a document") }
        return value
    }
}
