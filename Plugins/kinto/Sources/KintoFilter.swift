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

    /// The item's name and value.
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
            throw PluginError(
                .unsupported,
                "Kinto cannot search the field \"\(field.prefix(80))\", whose name begins or ends with a blank",
                domain: "kinto"
            )
        }
        return (field, filter.value.serialized())
    }

    /// A field's name in a comparison or a sort order. With any other name, Kinto takes the comparison as part of the
    /// name, and ignores the sort order, both without an error.
    static func comparable(_ field: String) throws(PluginError) -> String {
        guard !field.isEmpty, field.utf8.allSatisfy({ $0.isWordCharacter || $0 == UInt8(ascii: ".") }) else {
            throw PluginError(
                .unsupported,
                "Kinto compares and sorts by names of a-z, A-Z, 0-9, _ and . only, not by \"\(field.prefix(80))\"",
                domain: "kinto"
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
            throw PluginError(.unsupported, "Kinto cannot search a list for text with commas", domain: "kinto")
        }
        return texts.joined(separator: ",")
    }
}
