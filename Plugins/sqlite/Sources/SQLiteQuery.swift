// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// A query as one SQL statement, whose text contains only the shape of the query.
///
/// A member that a record lacks is null. Numbers are less than texts, and null is less than both; `lt`, `le`, `gt` and `ge` compare numbers
/// with numbers, and texts with texts by their code points. SQLite's JSON functions decode a text only up to a NUL character in it, so
/// comparisons see no more of one. Records that compare equal are ordered by their ids.
struct SQLiteQuery: Sendable {
    /// The statement; its columns are version, id, data, and the members to order by.
    private(set) var text = ""
    /// Its parameters.
    private(set) var values: [SQLiteValue] = []
    /// The most records on a page.
    let limit: Int
    /// The number of members to order by.
    let sortCount: Int

    private static let filterLimit = 64
    private static let sortLimit = 8
    private static let comparisons: [DatabaseQuery.Comparison: String] = [
        .less: "<", .lessOrEqual: "<=", .greater: ">", .greaterOrEqual: ">=",
    ]

    /// Writes the statement.
    ///
    /// - Throws: A ``PluginError`` for a cursor of another query, and for a comparison that has no meaning.
    init(_ query: DatabaseQuery, in collection: String) throws(PluginError) {
        guard query.filters.count <= Self.filterLimit, query.sort.count <= Self.sortLimit else {
            throw PluginError(
                .invalid,
                "a query has at most \(Self.filterLimit) conditions and \(Self.sortLimit) members to sort by"
            )
        }
        limit = query.limit
        sortCount = query.sort.count
        let keys = query.sort.indices.map { "k\($0)" }
        text = "SELECT * FROM (SELECT version, id, data"
        for (key, order) in zip(keys, query.sort) {
            text += ", (SELECT atom FROM json_each(r.data) WHERE key = ? LIMIT 1) AS \(key)"
            values.append(.text(order.field))
        }
        text += " FROM records AS r WHERE collection = ?"
        values.append(.text(collection))
        for filter in query.filters { try add(filter) }
        text += ")"
        if let cursor = query.cursor { try add(cursor: cursor, keys, query.sort) }
        let order = zip(keys, query.sort).map { "\($0)\($1.isDescending ? " DESC" : "")" } + ["id"]
        // One extra record tells whether there is another page.
        text += " ORDER BY \(order.joined(separator: ", ")) LIMIT ?"
        values.append(.integer(Int64(limit) + 1))
    }

    /// The cursor of the page after a record.
    ///
    /// - Parameter last: The record's members to order by, and its id.
    func cursor(after last: [SQLiteValue]) -> String {
        JSONValue.array(last.map(\.json)).serialized()
    }

    private mutating func add(_ filter: DatabaseQuery.Filter) throws(PluginError) {
        // SQLite's JSON functions cut text off at a NUL.
        let texts = [filter.field] + ([filter.value] + (filter.value.array ?? [])).compactMap(\.string)
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw PluginError(.unsupported, "texts with the character NUL are not compared", domain: "sqlite")
        }
        switch filter.comparison {
        case .equal: add(filter.field, among: [filter.value])
        case .within: add(filter.field, among: filter.value.array ?? [])
        case .notEqual: add(filter.field, among: [filter.value], isNot: true)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            let (types, value): (String, SQLiteValue) =
                switch filter.value {
                case .integer(let number): ("'integer', 'real'", .integer(number))
                case .number(let number): ("'integer', 'real'", .real(number))
                case .string(let string): ("'text'", .text(string))
                default:
                    throw PluginError(
                        .unsupported,
                        "\(filter.comparison.rawValue) of \"\(filter.field.prefix(40))\" compares numbers or texts, "
                            + "not \(filter.value.kind)",
                        domain: "sqlite"
                    )
                }
            let sign = Self.comparisons[filter.comparison] ?? "="
            text +=
                " AND EXISTS(SELECT 1 FROM json_each(r.data) WHERE key = ? AND type IN (\(types)) AND atom \(sign) ?)"
            values += [.text(filter.field), value]
        }
    }

    /// Requires that a member has one of some values, or none of them; the values go to SQLite as one JSON array.
    private mutating func add(_ field: String, among elements: [JSONValue], isNot: Bool = false) {
        text += isNot ? " AND NOT (" : " AND ("
        text += """
            EXISTS(SELECT 1 FROM json_each(r.data) AS m, json_each(?) AS w WHERE m.key = ? AND m.atom IS w.atom \
            AND replace(m.type, 'real', 'integer') = replace(w.type, 'real', 'integer'))
            """
        values += [.text(JSONValue.array(elements).serialized()), .text(field)]
        if elements.contains(.null) {
            text += " OR NOT EXISTS(SELECT 1 FROM json_each(r.data) WHERE key = ?)"
            values.append(.text(field))
        }
        text += ")"
    }

    /// Skips everything up to and including the last record of the previous page.
    private mutating func add(
        cursor: String,
        _ keys: [String],
        _ sort: [DatabaseQuery.Order]
    ) throws(PluginError) {
        let last = (try? JSONValue(parsing: Array(cursor.utf8)))?.array?.map { SQLiteValue(json: $0) }
        guard let last, last.count == sort.count + 1, let id = last.last, case .text? = id else {
            throw PluginError(.invalid, "cursor must be the one of this query's previous page")
        }
        text += " WHERE ("
        for (index, order) in sort.enumerated() {
            guard let value = last[index] else {
                throw PluginError(.invalid, "cursor must be the one of this query's previous page")
            }
            addEqual(keys, last, before: index)
            switch (value, order.isDescending) {
            case (.null, false): text += "\(keys[index]) IS NOT NULL"
            case (.null, true): text += "0"
            case (_, false):
                text += "\(keys[index]) > ?"
                values.append(value)
            case (_, true):
                text += "(\(keys[index]) < ? OR \(keys[index]) IS NULL)"
                values.append(value)
            }
            text += " OR "
        }
        addEqual(keys, last, before: sort.count)
        text += "id > ?)"
        if let id { values.append(id) }
    }

    private mutating func addEqual(_ keys: [String], _ last: [SQLiteValue?], before end: Int) {
        for index in 0..<end {
            text += "\(keys[index]) IS ? AND "
            values.append(last[index] ?? .null)
        }
    }
}
