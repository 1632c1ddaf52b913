// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension DatabaseQuery {
    /// Reads a query.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for any unknown member, because ignoring a filter would change
    ///   the result.
    public init(json: JSONValue, path: String = "query") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try reader.checkNames(Self.members.map(\.name))
        self.init(
            limit: try reader.integer("limit", within: Self.limitRange) ?? 100,
            cursor: try reader.string("cursor")
        )
        for member in try reader.object("where").members {
            filters += try Self.filters(member.name, member.value, path: "\(path).where.\(member.name)")
        }
        sort = try reader.strings("sort").map { text in
            let isDescending = text.starts(ascii: "-")
            return Order(isDescending ? String(text.unicodeScalars.dropFirst()) : text, descending: isDescending)
        }
        if filters.contains(where: { $0.field.isEmpty }) || sort.contains(where: { $0.field.isEmpty }) {
            throw ConnectorError(.invalid, "\(path) names a member without a name")
        }
    }

    /// Checks that ``json`` holds the whole query.
    ///
    /// - Throws: `invalid` for a second filter with the same field and comparison, for a filter by a number that is not finite, and for an
    ///   ascending order by a field that begins with `-`.
    package func check() throws(ConnectorError) {
        var found: [ExactText: Set<Comparison>] = [:]
        for filter in filters where !found[ExactText(filter.field), default: []].insert(filter.comparison).inserted {
            throw ConnectorError(
                .invalid,
                "the query compares \"\(filter.field.excerpt)\" with \"\(filter.comparison.rawValue)\" twice"
            )
        }
        for filter in filters {
            try filter.value.checkReadable(named: "the query's filter of \"\(filter.field.excerpt)\"")
        }
        for order in sort where !order.isDescending && order.field.starts(ascii: "-") {
            throw ConnectorError(.invalid, "the query cannot sort by \"\(order.field.excerpt)\" in ascending order")
        }
    }

    /// The JSON form that operations take. It cannot hold a query that ``check()`` refuses.
    public var json: JSONValue {
        var object = JSONObject()
        var conditions = JSONObject()
        for filter in filters {
            var members = conditions[filter.field]?.object ?? JSONObject()
            members[filter.comparison.rawValue] = filter.value
            conditions[filter.field] = .object(members)
        }
        object.set("where", conditions)
        object.set("sort", sort.map { .string($0.isDescending ? "-\($0.field)" : $0.field) })
        object.set("limit", limit)
        object.set("cursor", cursor)
        return .object(object)
    }

    private static func filters(_ field: String, _ value: JSONValue, path: String) throws(ConnectorError) -> [Filter] {
        guard case .object(let members) = value else {
            if case .array = value { throw ConnectorError(.invalid, "\(path) is an array; write {\"in\": […]}") }
            return [Filter(field, .equal, value)]
        }
        var filters: [Filter] = []
        for member in members.members {
            let known = Comparison.allCases.map(\.rawValue)
            guard let comparison = Comparison(rawValue: member.name) else {
                let fix = suggestion(for: member.name, among: known)
                throw ConnectorError(.invalid, "\(path) has no comparison \"\(member.name)\"", fix: fix)
            }
            let isFit =
                switch member.value {
                case .object: false
                case .array(let elements):
                    comparison == .within && !elements.isEmpty
                        && elements.allSatisfy { $0.array == nil && $0.object == nil }
                default: comparison != .within
                }
            guard isFit else {
                if comparison == .within, member.value == [] {
                    throw ConnectorError(.invalid, "\(path).\(member.name) needs a value")
                }
                let kind = comparison == .within ? "an array of values" : "a number, string, boolean or null"
                throw ConnectorError(.invalid, "\(path).\(member.name) must be \(kind)")
            }
            filters.append(Filter(field, comparison, member.value))
        }
        guard !filters.isEmpty else { throw ConnectorError(.invalid, "\(path) needs a comparison") }
        return filters
    }
}
