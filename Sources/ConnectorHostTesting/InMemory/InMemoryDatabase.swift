// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorHost
internal import Synchronization

/// A database for an application's tests, which keeps its records in memory.
///
/// ```swift
/// let database = InMemoryDatabase()
/// try await Notes(database: database).add("Milk")
/// #expect(try await database.query(in: "notes").records.map { $0.data["title"] } == ["Milk"])
/// ```
///
/// Every collection exists, and is empty at first. Each record has a version, which grows with every change. Names, records and queries
/// that every adapter refuses are refused, and so is a call in a cancelled task or past its deadline. Use it from any thread.
public final class InMemoryDatabase: Database {
    /// A record, and the number of the change that created it.
    fileprivate struct Kept: Sendable {
        var record: DatabaseRecord
        let number: Int
    }

    fileprivate struct State {
        var collections: [ExactText: [Kept]] = [:]
        var changes = 0
        var error: ConnectorError?
    }

    private let state = Mutex(State())

    /// Starts empty.
    public init() {}

    /// The error that every call throws from now on, without changing anything; nil for none.
    public var error: ConnectorError? {
        get { state.withLock(\.error) }
        set { state.withLock { $0.error = newValue } }
    }

    /// Stores a new record.
    ///
    /// - Throws: `conflict` if the id is taken.
    public func create(
        _ data: JSONObject,
        in collection: String,
        id: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord {
        try begin("create", options, id, in: collection, data)
        return try change { state throws(ConnectorError) in
            let id = id ?? state.freeID(in: collection)
            guard state.place(of: id, in: collection) == nil else {
                throw ConnectorError(.conflict, "\(collection) has a record \(id) already")
            }
            let record = DatabaseRecord(id: id, version: "\(state.changes)", data: data)
            state.collections[ExactText(collection), default: []].append(Kept(record: record, number: state.changes))
            return record
        }
    }

    /// Reads a record.
    ///
    /// - Throws: `missing` if the record does not exist.
    public func get(
        _ id: String,
        in collection: String,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord {
        try begin("get", options, id, in: collection)
        return try read { state throws(ConnectorError) in
            state.collections[ExactText(collection), default: []][try state.found(id, in: collection)].record
        }
    }

    /// Replaces a record.
    ///
    /// - Throws: `missing` if the record does not exist; `conflict` if it has another version; `invalid` for a version that is no number.
    public func replace(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord {
        try begin("replace", options, id, in: collection, data, version)
        return try change(id, in: collection, version) { $0 = data }
    }

    /// Merges members into a record; the others stay.
    ///
    /// - Throws: `missing` if the record does not exist; `conflict` if it has another version; `invalid` for a version that is no number.
    public func update(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord {
        try begin("update", options, id, in: collection, data, version)
        return try change(id, in: collection, version) { members in
            for member in data.members { members[member.name] = member.value }
        }
    }

    /// Deletes a record.
    ///
    /// - Throws: `missing` if the record does not exist; `conflict` if it has another version; `invalid` for a version that is no number.
    public func delete(
        _ id: String,
        in collection: String,
        version: String?,
        options: CallOptions
    ) async throws(ConnectorError) {
        try begin("delete", options, id, in: collection, JSONObject(), version)
        try change { state throws(ConnectorError) in
            let place = try state.found(id, in: collection, version)
            state.collections[ExactText(collection)]?.remove(at: place)
        }
    }

    /// Finds records, one page at a time; without `sort`, in the order of their creation. A page starts after the last record of the
    /// page before, even if that record has since been deleted.
    ///
    /// - Throws: `invalid` for a query that a ``DatabaseClient`` or every adapter refuses, or a cursor that does not fit the query;
    ///   `unsupported` for an order of values that are neither numbers nor strings.
    public func query(
        _ query: DatabaseQuery,
        in collection: String,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabasePage {
        try begin("query", options, nil, in: collection)
        try query.check()
        // Adapters read the query from JSON, with more rules.
        _ = try DatabaseQuery(json: query.json)
        for filter in query.filters { try filter.checkOrder() }
        let all = try read { state throws(ConnectorError) in state.collections[ExactText(collection), default: []] }
        var found = all.filter { kept in query.filters.allSatisfy { $0.accepts(kept.record.data[$0.field]) } }
            .map { (record: $0.record, position: query.position(of: $0.record, number: Int64($0.number))) }
            .sorted { query.isOrdered($0.position, $1.position) }
        if let cursor = query.cursor {
            guard let last = query.position(of: cursor) else {
                throw ConnectorError(.invalid, "the cursor \(cursor) is of no page of this query")
            }
            found.removeAll { !query.isOrdered(last, $0.position) }
        }
        let page = found.prefix(query.limit)
        let cursor = found.count > page.count ? page.last?.position.cursor : nil
        return DatabasePage(records: page.map(\.record), cursor: cursor)
    }

    /// Checks a call before it looks at the records.
    ///
    /// - Parameters:
    ///   - id: The id of the record; nil for none.
    ///   - data: The members to store.
    ///   - version: The version that the record must have; nil for any.
    private func begin(
        _ operation: String,
        _ options: CallOptions,
        _ id: String?,
        in collection: String,
        _ data: JSONObject = JSONObject(),
        _ version: String? = nil
    ) throws(ConnectorError) {
        try options.begin(operation)
        for (name, what) in [(collection, "collection"), (id ?? collection, "id")] {
            guard !DatabaseRecord.isName(name) else { continue }
            throw ConnectorError(.invalid, "\(what) is \"\(name.prefix(40))\"; it must be a name of 1 to 1024 bytes")
        }
        try JSONValue.object(data).checkReadable(named: "the record")
        if let version, Int64(version).flatMap({ $0 > 0 ? "\($0)" : nil }) != version {
            throw ConnectorError(.invalid, "version must be one that this database gave: a whole number")
        }
    }

    private func read<Value>(
        _ body: (State) throws(ConnectorError) -> sending Value
    ) throws(ConnectorError) -> sending Value {
        try state.withLock { state throws(ConnectorError) in
            if let error = state.error { throw error }
            return try body(state)
        }
    }

    private func change<Value>(
        _ body: (inout State) throws(ConnectorError) -> sending Value
    ) throws(ConnectorError) -> sending Value {
        try state.withLock { state throws(ConnectorError) in
            if let error = state.error { throw error }
            state.changes += 1
            return try body(&state)
        }
    }

    private func change(
        _ id: String,
        in collection: String,
        _ version: String?,
        _ body: (inout JSONObject) -> Void
    ) throws(ConnectorError) -> DatabaseRecord {
        try change { state throws(ConnectorError) in
            let place = try state.found(id, in: collection, version)
            var record = state.collections[ExactText(collection), default: []][place].record
            body(&record.data)
            record.version = "\(state.changes)"
            state.collections[ExactText(collection)]?[place].record = record
            return record
        }
    }
}

extension InMemoryDatabase.State {
    fileprivate func place(of id: String, in collection: String) -> Int? {
        collections[ExactText(collection)]?.firstIndex { ExactText($0.record.id) == ExactText(id) }
    }

    /// An id that no record has: the test may have chosen one of the same form.
    fileprivate func freeID(in collection: String) -> String {
        var number = changes
        while place(of: "record-\(number)", in: collection) != nil { number += 1 }
        return "record-\(number)"
    }

    /// The index of a record, which must exist and, unless `version` is nil, have that version.
    fileprivate func found(
        _ id: String,
        in collection: String,
        _ version: String? = nil
    ) throws(ConnectorError) -> Int {
        guard let place = place(of: id, in: collection) else {
            throw ConnectorError(.missing, "\(collection) has no record \(id)")
        }
        let current = collections[ExactText(collection)]?[place].record.version
        guard version == nil || version == current else {
            throw ConnectorError(.conflict, "\(id) has the version \(current ?? ""), not \(version ?? "")")
        }
        return place
    }
}
