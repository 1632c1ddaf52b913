// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Keeps records as rows of an SQLite database behind a Datasette server (docs.datasette.io/en/latest/json_api.html).
struct Datasette: DatabasePlugin {
    private let host: Host
    private let columns: TableColumns
    private let requests: DatasetteRequests

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        columns = try TableColumns(configuration, vendor: "datasette")
        requests = try DatasetteRequests(configuration, columns)
    }

    /// Reads the database's description, and asks the server who owns the token.
    func open() async throws -> [Evidence] {
        _ = try DatasetteRequests.database.body(of: await host.http.send(requests.database), failure: failure)
        let reachable = Evidence.reachable("the database \(requests.name) can be read")
        guard requests.hasToken else { return [reachable] }
        let body = try DatasetteRequests.actor.body(of: await host.http.send(requests.actor), failure: failure)
        // The server treats a token of an unknown kind as none at all.
        guard let actor = body["actor"]?.object else {
            throw PluginError(.unauthorized, "the server does not know the token", domain: "datasette")
        }
        return [reachable, .authenticated("the token is that of \(actor["id"]?.string?.prefix(80) ?? "an actor")")]
    }

    func create(_ record: JSONObject, in collection: String, id: String?) async throws -> DatabaseRecord {
        let row = try columns.checked(record, id: id)
        return try columns.record(await self.row(requests.insert(row, into: collection)), isNew: true)
    }

    func get(_ id: String, in collection: String) async throws -> DatabaseRecord {
        try columns.record(await row(requests.row(id, in: collection)), isProved: true)
    }

    /// Sets the columns that the record lacks to null.
    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        _ = try columns.filters(id: id, version: version)
        let new = try columns.replacement(of: await row(requests.row(id, in: collection)), with: record, isProved: true)
        return try columns.record(await row(requests.update(id, new, in: collection)), isProved: true)
    }

    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        _ = try columns.filters(id: id, version: version)
        let request = requests.update(id, try columns.checked(record), in: collection)
        return try columns.record(await row(request), isProved: true)
    }

    func delete(_ id: String, in collection: String, version: String?) async throws {
        _ = try columns.filters(id: id, version: version)
        let answer = try await host.http.send(requests.delete(id, in: collection))
        _ = try DatasetteRequests.done.body(of: answer, failure: failure)
    }

    func query(_ query: DatabaseQuery, in collection: String) async throws -> DatabasePage {
        var response = try await host.http.send(requests.query(query, in: collection))
        // The server's pages are shorter than the query's.
        if response.status == 400, response.excerpt.contains("_size must be <= ") {
            response = try await host.http.send(requests.query(query, size: "max", in: collection))
        }
        let body = try DatasetteRequests.rows.body(of: response, failure: failure)
        // SQLite takes the name of a missing column for a string, and finds the wrong rows.
        for filter in query.filters where body["rows"]?.array?.contains(where: { $0[filter.field] == nil }) == true {
            throw PluginError(.invalid, "the table has no column \"\(filter.field.prefix(80))\"", domain: "datasette")
        }
        let next = body["next"]?.string
        guard next == nil || next != query.cursor else {
            let message = "the next page begins where this one did; give the columns that the query sorts by a type"
            throw PluginError(.failed, message, domain: "datasette")
        }
        return DatabasePage(records: try columns.records(body["rows"], isProved: true), cursor: next)
    }

    /// The row in the answer to a request. Some versions answer with `row`, others with one element in `rows`.
    private func row(_ request: HTTPRequest) async throws(PluginError) -> JSONValue {
        let body = try DatasetteRequests.rows.body(of: await host.http.send(request), failure: failure)
        return body["row"] ?? body["rows"]?[0] ?? .null
    }

    /// The error, with Datasette's own words: it answers 400 whatever SQLite says, and 400 or 500 where a query takes too long.
    private func failure(_ response: HTTPResponse) -> PluginError {
        let body = try? response.json()
        let words = body?["errors"]?.array?.compactMap(\.string).joined(separator: "; ") ?? body?["error"]?.string
        var failure = response.failure(vendor: "datasette", words: words, now: host.clock.now)
        if response.status == 400 { failure.correct(bySQLiteWords: words ?? "") }
        if ["SQL query took too long", "QueryInterrupted: "].contains(where: { words?.contains($0) == true }) {
            (failure.status, failure.isRetryable, failure.message) = (.timedOut, true, "SQL reached sql_time_limit_ms")
        }
        return failure
    }
}
