// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A query of one class: constraint, order, page and projection.
struct ParseQuery {
    /// The parameters that a query may have.
    private static let parameters: Set = [
        "where", "order", "limit", "skip", "count", "keys", "excludeKeys", "include", "includeAll",
        "redirectClassNameForKey", "readPreference", "hint", "explain", "comment", "subqueryReadPreference",
        "includeReadPreference",
    ]

    /// The objects to return.
    private let constraint: ParseConstraint
    /// The field names to sort by; a leading `-` means descending.
    private let order: [String]
    /// The most objects to return.
    private let limit: Int
    /// The number of objects to skip.
    private let skip: Int
    /// Whether to return the number of matching objects.
    private let isCounting: Bool
    /// The part of each object to return.
    private let projection: ParseProjection

    /// Parses the parameters, each a JSON value.
    ///
    /// - Parameter maxLimit: The most objects that the server returns, whatever the query asks for.
    init(_ values: JSONObject, maxLimit: Int) throws(ParseFailure) {
        for name in values.names where !Self.parameters.contains(name) {
            throw .query("Invalid parameter for query: \(name)")
        }
        constraint = try ParseConstraint(values["where"])
        order = ParseProjection.names(values["order"])
        limit = min(Int(clamping: max(0, Self.number(values["limit"]) ?? 100)), maxLimit)
        skip = Int(clamping: max(0, Self.number(values["skip"]) ?? 0))
        isCounting = values["count"].map { $0 != .null && $0 != false && $0 != 0 && $0 != "0" && $0 != "" } ?? false
        projection = ParseProjection(values)
    }

    /// Returns `{results}`, and `count` if requested.
    func run(on name: String, in store: ParseStore) throws(ParseFailure) -> JSONValue {
        var matching: [JSONObject] = []
        for object in store.objects(of: name) where try constraint.matches(object) { matching.append(object) }
        matching.sort { precedes($0, $1) }
        let page = matching.dropFirst(skip).prefix(limit).map { projection.apply(to: $0, in: store) }
        var document: JSONObject = ["results": .array(page.map { .object($0) })]
        if isCounting { document["count"] = .integer(Int64(matching.count)) }
        return .object(document)
    }

    /// Whether one object precedes another; ties are broken by creation time.
    private func precedes(_ one: JSONObject, _ other: JSONObject) -> Bool {
        for field in order {
            let isDescending = field.starts(ascii: "-")
            let name = isDescending ? String(decoding: field.utf8.dropFirst(), as: UTF8.self) : field
            let values = (ParseConstraint.value(of: name, in: one), ParseConstraint.value(of: name, in: other))
            let result =
                ParseConstraint.compare(values.0, values.1)
                ?? (values.0 == nil ? (values.1 == nil ? 0 : -1) : values.1 == nil ? 1 : 0)
            if result != 0 { return isDescending ? result > 0 : result < 0 }
        }
        let created = (one["createdAt"]?.string ?? "", other["createdAt"]?.string ?? "")
        if created.0 != created.1 { return created.0 < created.1 }
        return (one["objectId"]?.string ?? "") < (other["objectId"]?.string ?? "")
    }

    /// Parses a number, or a string that contains one.
    private static func number(_ value: JSONValue?) -> Int64? {
        value?.integer ?? value?.string.flatMap { Int64($0) }
    }
}
