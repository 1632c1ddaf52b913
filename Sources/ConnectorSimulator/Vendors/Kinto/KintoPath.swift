// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What a path below `/v1` names: a list of objects, or one of them.
struct KintoPath {
    /// The path of the list, with the `default` bucket replaced, for instance `/buckets/b/collections`.
    var list: String
    /// The object's id, when one is named.
    var id: String?
    /// What the objects of the list are called in messages.
    var resource: String
    /// The ids above, outermost first: the bucket, then the collection.
    var parents: [String]

    /// What each level of the tree is called in paths and in messages.
    private static let levels = [["buckets"], ["collections", "groups"], ["records"]]

    /// Reads the components below `/v1`.
    ///
    /// - Parameter defaultBucket: what stands for the bucket named `default`.
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

    /// Where the object itself would be a parent: the paths of its lists begin so.
    func object(_ id: String) -> String { "\(list)/\(id)" }

    /// Tells whether `id` may name an object: letters, digits, `-` and `_`, not beginning with the latter two.
    static func isValid(_ id: String) -> Bool {
        guard let first = id.utf8.first, first.isLetterOrDigit else { return false }
        return id.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: "-") }
    }
}
