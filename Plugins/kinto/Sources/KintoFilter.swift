// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes filters as items of a query (docs.kinto-storage.org/en/latest/api/1.x/filtering.html).
enum KintoFilter {
    private static let prefixes: [DatabaseQuery.Comparison: String] = [
        .notEqual: "not_", .less: "lt_", .lessOrEqual: "max_", .greater: "gt_", .greaterOrEqual: "min_", .within: "in_",
    ]
    /// The prefixes that Kinto interprets as comparisons.
    private static let reserved = [
        "_", "not_", "lt_", "max_", "gt_", "min_", "eq_", "in_", "exclude_", "like_", "has_", "contains_",
    ]

    /// A number below all others that JSON here can express, so it marks the end of the texts in Kinto's order.
    private static let lowestNumber = "-1.7976931348623157e308"

    /// The items for all filters.
    ///
    /// In Kinto's order, null comes before texts, numbers, booleans, arrays, objects and, last, what a record lacks. So further items
    /// select the type that a filter compares with.
    static func items(_ filters: [DatabaseQuery.Filter]) throws(PluginError) -> [(name: String, value: String)] {
        var items: [(name: String, value: String)] = []
        for filter in filters { items.append(try item(filter)) }
        for filter in filters where filter.comparison == .notEqual && filter.value == .null {
            // Kinto in memory forgets the items before this one.
            items.insert((name: "has_" + filter.field, value: "true"), at: 0)
        }
        return try items + bounds(of: filters)
    }

    /// What filters compare a field with by order: texts or else numbers, and from which sides.
    private struct Bounds {
        let areTexts: Bool
        var isAbove = false
        var isBelow = false
    }

    /// The items that exclude all values but those of the type that the filters compare with by order: an end for each field for
    /// which the filters themselves have none.
    private static func bounds(of filters: [DatabaseQuery.Filter]) throws(PluginError)
        -> [(name: String, value: String)]
    {
        var fields: [String: Bounds] = [:]
        // Each record has Kinto's own two, whose values have one type.
        for filter in filters where filter.field != "id" && filter.field != "last_modified" {
            let isAbove = filter.comparison == .greater || filter.comparison == .greaterOrEqual
            guard isAbove || filter.comparison == .less || filter.comparison == .lessOrEqual else { continue }
            let isText = filter.value.string != nil
            guard isText || filter.value.number != nil else {
                let field = filter.field.prefix(80)
                throw unsupported(
                    "\(filter.comparison.rawValue) of \"\(field)\" compares numbers or texts, not \(filter.value.kind)"
                )
            }
            var bounds = fields[filter.field] ?? Bounds(areTexts: isText)
            guard bounds.areTexts == isText else {
                throw unsupported("\"\(filter.field.prefix(80))\" cannot be compared with both numbers and texts")
            }
            if isAbove { bounds.isAbove = true } else { bounds.isBelow = true }
            fields[filter.field] = bounds
        }
        var items: [(name: String, value: String)] = []
        for (field, bounds) in fields.sorted(by: { $0.key < $1.key }) {
            if !bounds.isAbove {
                let name = (bounds.areTexts ? "gt_" : "min_") + field
                items.append((name: name, value: bounds.areTexts ? "null" : lowestNumber))
            }
            if !bounds.isBelow { items.append((name: "lt_" + field, value: bounds.areTexts ? lowestNumber : "false")) }
        }
        return items
    }

    /// The item's name and value for one filter.
    static func item(_ filter: DatabaseQuery.Filter) throws(PluginError) -> (name: String, value: String) {
        let field = filter.field
        if filter.comparison == .within { return try ("in_" + comparable(field), list(filter.value.array ?? [])) }
        if let prefix = prefixes[filter.comparison] {
            return try (prefix + comparable(field), filter.value.serialized())
        }
        // A name that starts with such a prefix is searched with `in_` and a list of one value.
        if reserved.contains(where: { field.utf8.starts(with: $0.utf8) }) {
            return try ("in_" + comparable(field), list([filter.value]))
        }
        guard !isTrimmed(field) else {
            throw unsupported(
                "Kinto cannot search the field \"\(field.prefix(80))\", whose name begins or ends with a blank"
            )
        }
        return (field, filter.value.serialized())
    }

    /// A field's name in a comparison or a sort order; a dot leads into an object. With any other name, Kinto takes the
    /// comparison as part of the name, and ignores the sort order, both without an error.
    static func comparable(_ field: String) throws(PluginError) -> String {
        guard !field.isEmpty, field.utf8.allSatisfy({ $0.isWordCharacter || $0 == UInt8(ascii: ".") }) else {
            throw unsupported(
                "Kinto compares and sorts by names of a-z, A-Z, 0-9, _ and . only, not by \"\(field.prefix(80))\""
            )
        }
        return field
    }

    /// Whether Kinto would drop blanks at a name's ends, as Python's `strip` does.
    private static func isTrimmed(_ field: String) -> Bool {
        [field.unicodeScalars.first, field.unicodeScalars.last].contains { scalar in
            scalar.map { $0.properties.isWhitespace || (0x1C...0x1F).contains($0.value) } ?? false
        }
    }

    /// Joins values with commas, each as JSON, so that text that looks like a number stays text.
    private static func list(_ values: [JSONValue]) throws(PluginError) -> String {
        let texts = values.map { $0.serialized() }
        guard !texts.contains(where: { $0.utf8.contains(UInt8(ascii: ",")) }) else {
            throw unsupported("Kinto cannot search a list for text with commas")
        }
        return texts.joined(separator: ",")
    }

    private static func unsupported(_ message: String) -> PluginError {
        PluginError(.unsupported, message, domain: "kinto")
    }
}
