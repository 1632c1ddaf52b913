// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Keeps records as rows of a PostgreSQL database behind a PostgREST server (docs.postgrest.org).
struct PostgREST: DatabasePlugin {
    private let host: Host
    private let columns: TableColumns
    private let requests: PostgRESTRequests
    private let keyCheck = KeyCheck()

    init(configuration: PluginConfiguration, host: Host) throws {
        self.host = host
        columns = try TableColumns(configuration, vendor: "postgrest")
        requests = try PostgRESTRequests(configuration, columns)
    }

    /// Asks for a table that does not exist: gateways hide the description of the API, and the names of tables are unknown.
    /// PostgREST checks the token first, so if it refuses a wrong token, the real one is proved.
    func open() async throws -> [Evidence] {
        guard requests.hasToken else { return [try await reach()] }
        return try await keyCheck.evidence(reach(), refused: requests.missingTable(token: "wrong"), by: host.http)
    }

    /// Sends only the real token: repeated refusals would look like an attack.
    func probe() async throws -> [Evidence] {
        keyCheck.evidence(try await reach())
    }

    func create(_ record: JSONObject, in collection: String, id: String?) async throws -> DatabaseRecord {
        let row = try columns.checked(record, id: id)
        let answer = try await host.http.send(requests.insert(row, into: collection))
        return try columns.record(PostgRESTRequests.created.body(of: answer, failure: failure), isNew: true)
    }

    func get(_ id: String, in collection: String) async throws -> DatabaseRecord {
        try await change(id, in: collection, [:], version: nil)
    }

    /// Sets the columns that the record lacks to null: PostgREST's own replacement would create a missing row.
    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        let present = try await row(requests.row(id, in: collection))
        return try await change(id, in: collection, columns.replacement(of: present, with: record), version: version)
    }

    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        try await change(id, in: collection, columns.checked(record), version: version)
    }

    func delete(_ id: String, in collection: String, version: String?) async throws {
        _ = try await change(id, in: collection, nil, version: version)
    }

    func query(_ query: DatabaseQuery, in collection: String) async throws -> DatabasePage {
        guard let offset = Int(query.cursor ?? "0"), 0...Int(Int32.max) ~= offset else {
            throw PluginError(.invalid, "cursor must be one that a query gave", domain: "postgrest")
        }
        let response = try await host.http.send(requests.query(query, offset: offset, in: collection))
        // Rows were removed since the cursor was given.
        if response.status == 416, offset > 0 { return DatabasePage(records: [], cursor: nil) }
        let records = try columns.records(PostgRESTRequests.rows.body(of: response, failure: failure))
        // The header ends with the total number of rows that the query finds.
        let total = response.headers["Content-Range"]?.split(separator: "/").last.flatMap { Int($0) } ?? .max
        let end = offset + records.count
        return DatabasePage(records: records, cursor: records.isEmpty || end >= total ? nil : "\(end)")
    }

    private func reach() async throws -> Evidence {
        _ = try PostgRESTRequests.missing.body(of: await host.http.send(requests.missingTable()), failure: failure)
        return .reachable("PostgREST answers that there is no table \(PostgRESTRequests.missingName)")
    }

    /// Reads a row (`[:]`), changes it, or removes it (nil). If no row has the version, a request without it shows why.
    private func change(_ id: String, in collection: String, _ changes: JSONObject?, version: String?) async throws
        -> DatabaseRecord
    {
        do {
            return try columns.record(await row(requests.row(id, in: collection, version: version, changes: changes)))
        } catch let error as PluginError where error.status == .notFound && version != nil {
            _ = try await row(requests.row(id, in: collection))
            throw PluginError(.conflict, "the record has another version", domain: "postgrest")
        }
    }

    private func row(_ request: HTTPRequest) async throws -> JSONValue {
        try PostgRESTRequests.row.body(of: await host.http.send(request), failure: failure)
    }

    /// The error, with PostgREST's or PostgreSQL's own words, corrected by what its code says beyond the HTTP status.
    private func failure(_ response: HTTPResponse) -> PluginError {
        var failure = response.postgreSQLFailure(vendor: "postgrest", now: host.clock.now)
        let body = try? response.json()
        // Old servers send no code, and a new one may be told to send no details.
        if response.status == 406, body?["details"]?.string?.contains(" 0 rows") ?? (body?["code"] == "PGRST116") {
            (failure.status, failure.message) = (.notFound, "there is no such record")
        }
        return failure
    }
}
