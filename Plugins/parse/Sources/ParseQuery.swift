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

    /// The condition under `where`. A second constraint of the same kind on one member fits only under `$and`.
    static func condition(_ filters: [DatabaseQuery.Filter]) -> JSONObject {
        var condition = JSONObject()
        var others: [JSONValue] = []
        for filter in filters {
            let (name, constraint) = (name(filter.field), operators[filter.comparison] ?? "$eq")
            // The id has two names.
            let isAlone = filters.count { self.name($0.field) == name } == 1
            if filter.comparison == .equal, isAlone {
                condition[name] = filter.value
                continue
            }
            var constraints = condition[name]?.object ?? JSONObject()
            if constraints.names.contains(constraint) {
                let other = JSONObject([(constraint, filter.value)])
                others.append(.object(JSONObject([(name, .object(other))])))
            } else {
                constraints[constraint] = filter.value
                condition[name] = .object(constraints)
            }
        }
        if !others.isEmpty { condition["$and"] = .array(others) }
        return condition
    }

    /// The members to order by, with the id last: without it, pages could overlap or skip records that compare equal.
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
