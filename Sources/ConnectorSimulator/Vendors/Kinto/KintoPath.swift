// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A path below `/v1`, which names a list of objects or one of them.
struct KintoPath {
    /// The path of the list, with the `default` bucket replaced, for example `/buckets/b/collections`.
    var list: String
    /// The object's id; `nil` for a list.
    var id: String?
    /// The name of the objects' type in messages.
    var resource: String
    /// The ids of the parents, outermost first: the bucket, then the collection.
    var parents: [String]

    /// The names of each level of the tree in paths.
    private static let levels = [["buckets"], ["collections", "groups"], ["records"]]

    /// Parses the components below `/v1`; `nil` for an unknown path.
    ///
    /// - Parameter defaultBucket: The id that replaces `default`.
    init?(_ components: [String], defaultBucket: String) {
        guard !components.isEmpty, components.count <= 6 else { return nil }
        var path = ""
        var ids: [String] = []
        for (index, component) in components.enumerated() {
            if index.isMultiple(of: 2) {
                guard Self.levels[index / 2].contains(component),
                    component != "records" || path.contains("/collections")
                else { return nil }
                path += "/" + component
            } else {
                ids.append(index == 1 && component == "default" ? defaultBucket : component)
                if index < components.count - 1 { path += "/" + (ids.last ?? "") }
            }
        }
        list = path
        resource = String(components[(components.count - 1) / 2 * 2].dropLast())
        if components.count.isMultiple(of: 2) {
            id = ids.removeLast()
        }
        parents = ids
    }

    /// Whether `id` is a valid id: letters, digits, `-` and `_`, starting with a letter or digit.
    static func isValid(_ id: String) -> Bool {
        guard let first = id.utf8.first, first.isLetterOrDigit else { return false }
        return id.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: "-") }
    }
}
