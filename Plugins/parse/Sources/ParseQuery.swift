// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes queries for Parse (docs.parseplatform.org/rest/guide/#query-constraints).
enum ParseQuery {
    private static let operators: [DatabaseQuery.Comparison: String] = [
        .notEqual: "$ne", .less: "$lt", .lessOrEqual: "$lte", .greater: "$gt", .greaterOrEqual: "$gte", .within: "$in",
        .equal: "$eq",
    ]

    /// The condition under `where`.
    static func condition(_ filters: [DatabaseQuery.Filter]) -> JSONObject {
        var condition = JSONObject()
        for filter in filters {
            let isAlone = filters.count { $0.field == filter.field } == 1
            if filter.comparison == .equal, isAlone {
                condition[name(filter.field)] = filter.value
            } else {
                var constraints = condition[name(filter.field)]?.object ?? JSONObject()
                constraints[operators[filter.comparison] ?? "$eq"] = filter.value
                condition[name(filter.field)] = .object(constraints)
            }
        }
        return condition
    }

    /// The members to order by, with the id last: among records that are equal before it, pages would overlap or miss some.
    static func order(_ sort: [DatabaseQuery.Order]) -> [String] {
        let order = sort.map { ($0.isDescending ? "-" : "") + name($0.field) }
        return sort.contains { name($0.field) == "objectId" } ? order : order + ["objectId"]
    }

    /// A member's name; Parse has another name for the record's id.
    static func name(_ field: String) -> String { field == "id" ? "objectId" : field }

    /// The number of objects before the page.
    static func skip(_ cursor: String?) throws(PluginError) -> Int {
        guard let cursor else { return 0 }
        guard let skip = Int(cursor), (0...1_000_000_000).contains(skip) else {
            throw PluginError(.invalid, "cursor must come from a previous page", domain: "parse")
        }
        return skip
    }
}
