// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The files and collections of a simulated WebDAV server, by the components of their paths.
struct WebDAVStore {
    /// A file or a collection.
    struct Resource {
        /// The content; nil for a collection.
        var content: [UInt8]?
        /// The media type that came with the content.
        var contentType: String?
        /// The entity tag, with quotes.
        var tag = ""
        /// When the content was put or the collection was made.
        var modified: Timestamp
        /// The properties that clients set.
        var properties: [XMLElement] = []

        /// Whether this is a collection.
        var isCollection: Bool { content == nil }
    }

    private var resources: [[ExactText]: Resource]
    private var count: UInt64 = 0

    /// Creates a store that has only its root.
    init() {
        resources = [[]: Resource(modified: .now)]
    }

    /// What is at a path.
    subscript(path: [ExactText]) -> Resource? { resources[path] }

    /// Whether the collection that a path is in exists.
    func hasParent(_ path: [ExactText]) -> Bool {
        !path.isEmpty && resources[Array(path.dropLast())]?.isCollection == true
    }

    /// The paths directly in a collection, in order.
    func members(of path: [ExactText]) -> [[ExactText]] {
        resources.keys.filter { $0.count == path.count + 1 && $0.starts(with: path) }.sorted {
            $0.lexicographicallyPrecedes($1)
        }
    }

    /// Makes a collection.
    mutating func makeCollection(_ path: [ExactText], at now: Timestamp) {
        resources[path] = Resource(modified: now)
    }

    /// Puts a file; one that it replaces passes on its properties.
    mutating func put(_ content: [UInt8], _ contentType: String?, at path: [ExactText], now: Timestamp) -> Resource {
        count += 1
        let resource = Resource(
            content: content,
            contentType: contentType,
            tag: "\"\(String(count, radix: 16))\"",
            modified: now,
            properties: resources[path]?.properties ?? []
        )
        resources[path] = resource
        return resource
    }

    /// The change of a property that belongs to clients.
    struct Change {
        /// The property, with its value if it is set.
        var property: XMLElement
        /// Whether the property is removed.
        var isRemoval: Bool
    }

    /// Sets or removes a property.
    mutating func make(_ change: Change, at path: [ExactText]) {
        resources[path]?.properties.removeAll(where: change.property.hasName(of:))
        if !change.isRemoval { resources[path]?.properties.append(change.property) }
    }

    /// Removes what is at a path, and everything below.
    mutating func remove(_ path: [ExactText]) {
        resources = resources.filter { !$0.key.starts(with: path) }
    }

    /// Copies what is at a path, and everything below if members are included, over what is at another. Copied files get new tags.
    mutating func copy(_ source: [ExactText], to destination: [ExactText], withMembers: Bool) {
        let copied = resources.filter { withMembers ? $0.key.starts(with: source) : $0.key == source }
        remove(destination)
        for (path, resource) in copied {
            var resource = resource
            count += 1
            if !resource.isCollection { resource.tag = "\"\(String(count, radix: 16))\"" }
            resources[destination + path.dropFirst(source.count)] = resource
        }
    }

    /// Moves what is at a path, and everything below, over what is at another.
    mutating func move(_ source: [ExactText], to destination: [ExactText]) {
        let moved = resources.filter { $0.key.starts(with: source) }
        remove(destination)
        remove(source)
        for (path, resource) in moved { resources[destination + path.dropFirst(source.count)] = resource }
    }
}
