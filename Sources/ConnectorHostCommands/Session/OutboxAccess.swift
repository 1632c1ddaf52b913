// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorOutbox

/// The outbox of one connector, or of all connectors, for the outbox commands.
protocol OutboxAccess: Sendable {
    /// The statistics of each connector's queue.
    func statistics() async throws(ConnectorError) -> [String: QueueStatistics]
    /// An event at each connector that receives it.
    ///
    /// - Throws: `missing` if the id is unknown.
    func event(_ id: String) async throws(ConnectorError) -> [OutboxRecord]
    /// Dead letters, oldest first, and the cursor of the next page.
    ///
    /// - Parameter cursor: The cursor of the page; nil for the first page.
    func dead(
        limit: Int,
        after cursor: RecordCursor?
    ) async throws(ConnectorError) -> (letters: [OutboxRecord], next: RecordCursor?)
    /// Puts dead letters back in the queue.
    ///
    /// - Parameters:
    ///   - ids: The ids of the events; nil for all.
    ///   - path: The connector that gets them; nil for the one that had each letter, which leaves those of connectors that are not in the
    ///     configuration.
    /// - Returns: How many, and an error that says which are left; nil if none is.
    /// - Throws: `missing` if none of the ids belongs to a dead letter, and the error that says which are left if all of those are.
    func replay(
        _ ids: [String]?,
        to path: String?
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?)
    /// Drops dead letters and, with `queued`, waiting events for good.
    ///
    /// - Throws: `missing` if none of the ids belongs to any of these.
    func drop(_ ids: [String]?, queued: Bool) async throws(ConnectorError) -> Int
}

extension OutboxAccess {
    /// Those of some ids that belong to no event in one of the states.
    func unknown(
        _ ids: [String],
        in states: Set<OutboxRecord.State>
    ) async throws(ConnectorError) -> [String] {
        var unknown: [String] = []
        for id in ids {
            do throws(ConnectorError) {
                if try await event(id).contains(where: { states.contains($0.state) }) { continue }
            } catch {
                guard error.code == .missing else { throw error }
            }
            unknown.append(id)
        }
        return unknown
    }
}

/// The outbox in its store, which a host may be using at the same time.
struct StoredOutbox: OutboxAccess {
    /// The store; nil if there is none yet.
    let engine: (any OutboxEngine)?
    /// The connectors of the file.
    let configuration: Configuration
    /// The selected connector; nil for all.
    let gate: String?

    func statistics() async throws(ConnectorError) -> [String: QueueStatistics] {
        let statistics = try await engine?.statistics() ?? [:]
        let targets = try targets(statistics)
        return statistics.filter { targets?.contains($0.key) ?? true }
    }

    func event(_ id: String) async throws(ConnectorError) -> [OutboxRecord] {
        let records = try await engine?.records(RecordSelection(paths: try await targets(), ids: [id])) ?? []
        guard records.isEmpty else { return records }
        var others: [OutboxRecord] = []
        if gate != nil { others = try await engine?.records(RecordSelection(ids: [id])) ?? [] }
        throw OutboxDocument.unknownEvent(id, at: gate, butAt: others)
    }

    func dead(
        limit: Int,
        after cursor: RecordCursor?
    ) async throws(ConnectorError) -> (letters: [OutboxRecord], next: RecordCursor?) {
        let targets = try await targets()
        let selection = RecordSelection(paths: targets, states: [.dead], limit: limit, after: cursor)
        let letters = try await engine?.records(selection) ?? []
        return (letters, letters.next(limit: limit))
    }

    func replay(
        _ ids: [String]?,
        to path: String?
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        let (count, left) = try await replay(selection(ids, [.dead]), to: path)
        if count == 0, ids != nil, let left { throw left }
        return (try check(count, ids), left)
    }

    private func replay(
        _ selection: RecordSelection,
        to path: String?
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        let connectors = configuration.enabledConnectors
        guard let path else {
            let paths = connectors.filter { $0.same == nil }.map(\.path)
            return try await engine?.replay(selection, among: Set(paths)) ?? (count: 0, left: nil)
        }
        let queues = configuration.queues.map(\.path)
        let own = connectors.first { $0.path == path }?.same ?? path
        guard queues.contains(own) else { throw .withoutQueue(path, among: queues) }
        return try await engine?.replay(selection, to: own) ?? (count: 0, left: nil)
    }

    func drop(_ ids: [String]?, queued: Bool) async throws(ConnectorError) -> Int {
        let selection = try await selection(ids, queued ? [.dead, .queued] : [.dead])
        return try check(try await engine?.drop(selection) ?? 0, ids, queued: queued)
    }

    private func selection(
        _ ids: [String]?,
        _ states: Set<OutboxRecord.State>
    ) async throws(ConnectorError) -> RecordSelection {
        RecordSelection(paths: try await targets(), ids: ids.map(Set.init), states: states)
    }

    private func targets() async throws(ConnectorError) -> Set<String>? {
        gate == nil ? nil : try targets(try await engine?.statistics() ?? [:])
    }

    private func targets(_ statistics: [String: QueueStatistics]) throws(ConnectorError) -> Set<String>? {
        guard let gate else { return nil }
        return try OutboxDocument.targets(of: gate, among: Set(statistics.keys), configuration)
    }

    /// Returns the count, and throws if ids were given and none of them is known.
    private func check(_ count: Int, _ ids: [String]?, queued: Bool = false) throws(ConnectorError) -> Int {
        if count == 0, let ids { throw OutboxDocument.unknown(ids, queued: queued) }
        return count
    }
}

/// The outbox of a running host.
struct AttachedOutbox: OutboxAccess {
    /// The host.
    let host: AttachedHost
    /// The selected connector; nil for all.
    let gate: String?

    /// The timeout of a reading. The host waits for NATS servers that do not respond, and reads their events one by one.
    private static let timeout = Duration.seconds(120)

    func statistics() async throws(ConnectorError) -> [String: QueueStatistics] {
        let document = try await host.document("/api/v1/outbox", [("connector", gate)], within: Self.timeout)
        return try read(document, OutboxDocument.statistics(json:))
    }

    func event(_ id: String) async throws(ConnectorError) -> [OutboxRecord] {
        let path = "/api/v1/outbox/\(PercentCoding.encode(id))"
        let document = try await host.document(path, [("connector", gate)], within: Self.timeout)
        return try read(document, OutboxDocument.event(json:))
    }

    func dead(
        limit: Int,
        after cursor: RecordCursor?
    ) async throws(ConnectorError) -> (letters: [OutboxRecord], next: RecordCursor?) {
        let limit = min(limit, ControlAPI.recordLimit)
        let query = [("connector", gate), ("limit", "\(limit)"), ("after", cursor?.description)]
        return try read(await host.document("/api/v1/dead", query, within: Self.timeout), OutboxDocument.dead(json:))
    }

    func replay(
        _ ids: [String]?,
        to path: String?
    ) async throws(ConnectorError) -> (count: Int, left: ConnectorError?) {
        var body = body(ids)
        body["to"] = path.map(JSONValue.string)
        let document = try await host.act("/api/v1/dead/replay", body)
        let count = try read(document) { $0["replayed"]?.integer.map { Int(clamping: $0) } }
        return (count, document["errors"]?[0].flatMap(ConnectorError.init(json:)))
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
        guard let value = read(document) else { throw host.incompatible("a document") }
        return value
    }
}
