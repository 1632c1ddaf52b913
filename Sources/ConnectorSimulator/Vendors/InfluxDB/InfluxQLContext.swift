// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Runs the statements of one request on the databases.
struct InfluxQLContext {
    /// The database for statements that name none.
    let database: ExactText
    /// The unit of times in answers, in nanoseconds; `nil` for RFC 3339.
    let epoch: Int64?
    /// Whether the request is a `GET`, which should not change anything.
    let isReadOnly: Bool

    /// Runs the statements in order; stops after the first failure.
    func run(
        _ statements: [InfluxQLParser.Parsed],
        on databases: inout [ExactText: InfluxDatabase]
    ) -> [JSONValue] {
        var results: [JSONValue] = []
        for (index, parsed) in statements.enumerated() {
            let (statement, name) = (parsed.statement, parsed.database ?? database)
            var result: JSONObject = ["statement_id": .integer(Int64(index))]
            do {
                let series = try run(statement, of: name, on: &databases)
                if !series.isEmpty { result["series"] = .array(series) }
            } catch {
                result["error"] = .string(error.message)
            }
            if isReadOnly, statement.isWrite {
                let text = "deprecated use of a statement that writes in a read only context, please use a POST request"
                result["messages"] = [["level": "warning", "text": .string("\(text) instead")]]
            }
            results.append(.object(result))
            if result["error"] != nil { break }
        }
        return results
    }

    /// Runs one statement.
    private func run(
        _ statement: InfluxQLStatement,
        of database: ExactText,
        on databases: inout [ExactText: InfluxDatabase]
    ) throws(Refusal) -> [JSONValue] {
        switch statement {
        case .showDatabases: return [table("databases", ["name"], databases.keys.sorted().map { [.string($0.text)] })]
        case .createDatabase(let name):
            if databases[name] == nil { databases[name] = InfluxDatabase() }
            return []
        case .dropDatabase(let name):
            databases[name] = nil
            return []
        case .dropMeasurement(let name):
            databases[database]?.drop(name)
            return []
        case .showRetentionPolicies:
            _ = try known(database, in: databases)
            let columns = ["name", "duration", "shardGroupDuration", "replicaN", "default"]
            return [table(nil, columns, [[.string(InfluxDatabase.retentionPolicy), "0s", "168h0m0s", 1, true]])]
        case .select(let selection):
            let known = try known(database, in: databases)
            if let policy = selection.policy?.text, policy != InfluxDatabase.retentionPolicy {
                throw Refusal(message: "retention policy not found: \(policy)")
            }
            return try InfluxQLSelect(selection: selection, epoch: epoch).series(from: known)
        case .showMeasurements where !database.text.isEmpty && databases[database] == nil: return []
        case .showMeasurements, .showSeries, .showTagKeys, .showFieldKeys, .showTagValues:
            return show(statement, in: try known(database, in: databases))
        }
    }

    /// The database with a name.
    private func known(
        _ name: ExactText,
        in databases: [ExactText: InfluxDatabase]
    ) throws(Refusal) -> InfluxDatabase {
        guard !name.text.isEmpty else { throw Refusal(message: "database name required") }
        guard let known = databases[name] else { throw Refusal(message: "database not found: \(name.text)") }
        return known
    }

    /// Runs a `SHOW` statement.
    private func show(_ statement: InfluxQLStatement, in database: InfluxDatabase) -> [JSONValue] {
        let all = database.names
        switch statement {
        case .showMeasurements(let page):
            let names = page.rows(of: all)
            return names.isEmpty ? [] : [table("measurements", ["name"], names.map { [.string($0.text)] })]
        case .showSeries(let source, let page):
            let points = all.filter { source == nil || $0 == source }.flatMap { database.points(of: $0) }
            let keys = page.rows(of: Set(points.map { ExactText($0.key) }).sorted())
            return keys.isEmpty ? [] : [table(nil, ["key"], keys.map { [.string($0.text)] })]
        case .showTagKeys(let source):
            return all.filter { source == nil || $0 == source }.compactMap { name in
                let keys = database.tagKeys(of: name)
                guard !keys.isEmpty else { return nil }
                return table(name.text, ["tagKey"], keys.map { [.string($0.text)] })
            }
        case .showFieldKeys(let source):
            return all.filter { source == nil || $0 == source }.map { name in
                let kinds = (database.kinds[name] ?? [:]).sorted { $0.key < $1.key }
                return table(
                    name.text,
                    ["fieldKey", "fieldType"],
                    kinds.map { [.string($0.key.text), .string($0.value.rawValue)] }
                )
            }
        case .showTagValues(let source, let key):
            return all.filter { source == nil || $0 == source }.compactMap { name in
                let values = Set(database.points(of: name).compactMap { $0.tags[key] })
                guard !values.isEmpty else { return nil }
                return table(
                    name.text,
                    ["key", "value"],
                    values.sorted().map { [.string(key.text), .string($0.text)] }
                )
            }
        default: return []
        }
    }

    /// One series of an answer.
    private func table(_ name: String?, _ columns: [String], _ rows: [[JSONValue]]) -> JSONValue {
        var object = JSONObject()
        if let name { object["name"] = .string(name) }
        object["columns"] = .array(columns.map { .string($0) })
        object["values"] = .array(rows.map { .array($0) })
        return .object(object)
    }
}
