// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The filters, order and page of a request for a list.
struct KintoQuery {
    /// One condition on a field.
    private struct Filter {
        var field: String
        var comparison: String
        var value: JSONValue
    }

    /// A field to order by.
    private struct Sort {
        var field: String
        var isDescending: Bool
    }

    /// The filters, all of which must match.
    private var filters: [Filter] = []
    /// The sort order, most significant field first.
    private var sorts: [Sort] = []
    /// The most objects in one answer.
    private var limit: Int?
    /// The fields to return of each object; `nil` for all.
    private var fields: [String]?
    /// The last object of the previous page.
    private var last: JSONObject?
    /// Whether to include deleted objects.
    private(set) var includesDeleted = false

    /// The prefixes of field names, longest first, so that the longest one matches.
    private static let prefixes = [
        "contains_any_", "contains_", "exclude_", "like_", "min_", "max_", "not_", "has_", "in_", "lt_", "gt_",
    ]

    /// Parses the query of a request.
    init(_ query: QueryItems) throws(KintoFailure) {
        for item in query.items {
            switch item.name {
            case "_sort":
                sorts += item.value.split(ascii: ",").map { field in
                    Sort(
                        field: String(field.unicodeScalars.drop { $0 == "-" || $0 == "+" }).trimmingBlanks(),
                        isDescending: field.starts(ascii: "-")
                    )
                }
            case "_limit":
                guard let limit = Int(item.value), limit >= 0 else { throw Self.notANumber(item) }
                self.limit = limit == 0 ? nil : limit
            case "_fields": fields = item.value.split(ascii: ",").map { String($0) }
            case "_token": last = try Self.token(item.value)
            case "_since", "_to", "_before":
                guard let value = Self.number(item.value) else { throw Self.notANumber(item) }
                let comparison = item.name == "_since" ? "gt_" : "lt_"
                filters.append(Filter(field: "last_modified", comparison: comparison, value: .integer(value)))
                includesDeleted = true
            case let name where name.starts(ascii: "_"): continue
            default: try add(item)
            }
        }
        if !sorts.contains(where: { $0.field == "last_modified" }) {
            sorts.append(Sort(field: "last_modified", isDescending: true))
        }
    }

    /// Reads `field=value` or `comparison_field=value`.
    private mutating func add(_ item: QueryItems.Item) throws(KintoFailure) {
        let comparison = Self.prefixes.first { item.name.hasPrefix($0) } ?? ""
        let field = String(item.name.dropFirst(comparison.count))
        var value = Self.native(item.value)
        switch comparison {
        case "in_", "exclude_":
            value = .array(item.value.split(ascii: ",", omittingEmptySubsequences: false).map { Self.native($0) })
        case "like_": value = .string(item.value)
        case "contains_", "contains_any_":
            if value.array == nil { value = [value] }
        default: break
        }
        if field == "last_modified" {
            let values = value.array ?? [Self.number(item.value).map { .integer($0) } ?? value]
            guard values.allSatisfy({ $0.integer != nil }) else {
                throw .invalid("Invalid value for \(item.name)", location: "querystring", name: item.name)
            }
            if value.array == nil { value = values[0] }
            includesDeleted = includesDeleted || ["min_", "gt_", "in_", ""].contains(comparison)
        }
        if field == "id", case .integer(let number) = value { value = .string(String(number)) }
        filters.append(Filter(field: field, comparison: comparison, value: value))
    }

    /// The objects that meet the filters, in order, without paging.
    func select(from objects: [JSONObject]) -> [JSONObject] {
        objects.filter { object in filters.allSatisfy { Self.matches(object, $0) } }.sorted { precedes($0, $1) }
    }

    /// One page of ordered objects, and the token of the next page if there is one.
    func page(of objects: [JSONObject]) -> (objects: [JSONObject], token: String?) {
        var rest = objects[...]
        if let last { rest = rest.drop { !precedes(last, $0, isToken: true) } }
        let page = rest.prefix(limit ?? .max)
        guard page.count < rest.count, let end = page.last else { return (page.map { project($0) }, nil) }
        var token = JSONObject()
        for sort in sorts { token[sort.field] = Self.value(of: sort.field, in: end) }
        token["id"] = end["id"]
        return (page.map { project($0) }, Base64.encode(JSONValue.object(token).utf8()))
    }

    /// Whether one object precedes another; ties are broken by id, so that pages never overlap.
    ///
    /// - Parameter isToken: Whether the first one is the content of a token, whose names are those of the order.
    private func precedes(_ one: JSONObject, _ other: JSONObject, isToken: Bool = false) -> Bool {
        for sort in sorts {
            let value = isToken ? one[sort.field] : Self.value(of: sort.field, in: one)
            let order = KintoOrder.compare(value, Self.value(of: sort.field, in: other))
            if order != 0 { return sort.isDescending ? order > 0 : order < 0 }
        }
        return KintoOrder.compare(one["id"], other["id"]) < 0
    }

    /// The object reduced to the requested fields.
    private func project(_ object: JSONObject) -> JSONObject {
        guard let fields else { return object }
        let names = fields.map { $0.prefix(before: ".") } + ["id", "last_modified", "deleted"]
        return JSONObject(object.members.filter { names.contains(Substring($0.name)) }.map { ($0.name, $0.value) })
    }

    /// Whether an object matches a filter.
    private static func matches(_ object: JSONObject, _ filter: Filter) -> Bool {
        let value = value(of: filter.field, in: object)
        let order = KintoOrder.compare(value, filter.value)
        switch filter.comparison {
        case "": return order == 0 && value != nil && isSame(value, filter.value)
        case "not_": return !(order == 0 && isSame(value, filter.value))
        case "min_": return order >= 0
        case "max_": return order <= 0
        case "gt_": return order > 0
        case "lt_": return order < 0
        case "in_": return filter.value.array?.contains { isSame(value, $0) } ?? false
        case "exclude_": return !(filter.value.array?.contains { isSame(value, $0) } ?? false)
        case "has_": return (value != nil) == (filter.value.bool ?? true)
        case "like_": return value?.string.map { like($0.lowercased(), filter.value.string ?? "") } ?? false
        case "contains_":
            guard let values = value?.array else { return false }
            return filter.value.array?.allSatisfy { wanted in values.contains { isSame($0, wanted) } } ?? false
        default:
            guard let values = value?.array else { return false }
            return filter.value.array?.contains { wanted in values.contains { isSame($0, wanted) } } ?? false
        }
    }

    /// Whether two values are equal; `1` equals `1.0`.
    private static func isSame(_ one: JSONValue?, _ other: JSONValue) -> Bool {
        if let order = one?.numericOrder(to: other) { return order == 0 }
        return one == other
    }

    /// Matches a pattern in which `*` is a wildcard; a pattern without `*` may occur anywhere.
    private static func like(_ text: String, _ pattern: String) -> Bool {
        var parts = pattern.lowercased().split(ascii: "*", omittingEmptySubsequences: false).map(\.utf8)
        if parts.count == 1 { parts = [""[...].utf8] + parts + [""[...].utf8] }
        guard let head = parts.first, let tail = parts.last, text.utf8.starts(with: head) else { return false }
        var rest = text.utf8.dropFirst(head.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.count >= tail.count && rest.suffix(tail.count).elementsEqual(tail)
    }

    /// A field's value; a dot leads into an object, as in Kinto's PostgreSQL. Kinto in memory also finds a name with a dot.
    private static func value(of field: String, in object: JSONObject) -> JSONValue? {
        guard field.utf8.contains(UInt8(ascii: ".")) else { return object[field] }
        var value: JSONValue? = .object(object)
        for name in field.split(ascii: ".", omittingEmptySubsequences: false) { value = value?[String(name)] }
        return value
    }

    /// Parses a value as Kinto does: as JSON if it is valid JSON, otherwise as a string.
    private static func native(_ text: some StringProtocol) -> JSONValue {
        (try? JSONValue(parsing: String(text))) ?? .string(String(text))
    }

    /// A timestamp, bare or in quotes.
    private static func number(_ text: String) -> Int64? {
        Int64(text)
            ?? (text.count > 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
                ? Int64(text.dropFirst().dropLast()) : nil)
    }

    /// Decodes the token of a page.
    private static func token(_ text: String) throws(KintoFailure) -> JSONObject {
        guard let bytes = Base64.decode(text), let object = (try? JSONValue(parsing: bytes))?.object, !object.isEmpty
        else {
            let message = "_token has invalid content"
            throw .invalid("querystring: \(message)", location: "querystring", name: nil, description: message)
        }
        return object
    }

    /// The error for a parameter that must be a number.
    private static func notANumber(_ item: QueryItems.Item) -> KintoFailure {
        let message = "\"\(item.value)\" is not a number"
        return .invalid(
            "\(item.name) in querystring: \(message)",
            location: "querystring",
            name: item.name,
            description: message
        )
    }
}
