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
        "_", "not_", "lt_", "max_", "gt_", "min_", "in_", "exclude_", "like_", "has_", "contains_",
    ]

    /// The item's name and value.
    static func item(_ filter: DatabaseQuery.Filter) throws(PluginError) -> (name: String, value: String) {
        if filter.comparison == .within {
            return ("in_\(filter.field)", try list(filter.value.array ?? []))
        }
        if let prefix = prefixes[filter.comparison] { return (prefix + filter.field, filter.value.serialized()) }
        // A name that starts with such a prefix is searched with `in_` and a list of one value.
        guard reserved.contains(where: filter.field.hasPrefix) else { return (filter.field, filter.value.serialized()) }
        return ("in_\(filter.field)", try list([filter.value]))
    }

    /// Joins values with commas, each as JSON, so that text that looks like a number stays text.
    private static func list(_ values: [JSONValue]) throws(PluginError) -> String {
        let texts = values.map { $0.serialized() }
        guard !texts.contains(where: { $0.contains(",") }) else {
            throw PluginError(.unsupported, "Kinto cannot search a list for text with commas", domain: "kinto")
        }
        return texts.joined(separator: ",")
    }
}
