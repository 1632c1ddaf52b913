// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Finds the files of one page by walking the collections in the order of the paths' bytes.
///
/// WebDAV has no pages, and a server need not list everything below a collection at once (RFC 4918, section 9.1). So each collection that
/// may contain files of the page is listed by its own request.
struct WebDAVListing {
    private let connection: WebDAVConnection
    private let selection: FileSelection
    private let limit: Int
    private var files: [FileEntry] = []

    init(_ connection: WebDAVConnection, _ selection: FileSelection, limit: Int) {
        self.connection = connection
        self.selection = selection
        self.limit = limit
    }

    /// Walks until the page is full and one more file is found.
    mutating func page() async throws(PluginError) -> FilePage {
        try await visit("")
        return FilePage(files: Array(files.prefix(limit)), hasMore: files.count > limit)
    }

    /// Adds the files below a collection. A path's length bounds the depth.
    private mutating func visit(_ collection: String) async throws(PluginError) {
        var members = Members(limit: limit)
        let selection = selection
        try await connection.readMembers(of: collection) { member in
            let path = member.path
            guard path != WebDAVRequests.uploadsName, (try? FilePathRule.check(path)) != nil else { return }
            // The paths below a collection continue with a slash.
            if member.isCollection {
                if selection.mayInclude(below: path + "/") { members.add(member, order: path + "/") }
            } else if selection.includes(path) {
                members.add(member, order: path)
            }
        }
        for member in members.sorted() {
            guard files.count <= limit else { return }
            if member.isCollection {
                try await visit(member.path)
            } else {
                files.append(try member.entry())
            }
        }
    }

    /// The members of one collection that the page can need, however many there are.
    private struct Members {
        private typealias Member = (order: String, resource: WebDAVResource)

        /// The most files of the page; one more says that there are more.
        private let limit: Int
        private var members: [Member] = []
        /// How many members there may be before those are dropped that the page cannot need.
        private var room: Int

        init(limit: Int) {
            self.limit = limit
            room = 4 * limit + 1024
        }

        mutating func add(_ member: WebDAVResource, order: String) {
            members.append((order, member))
            guard members.count >= room else { return }
            reduce()
            room = max(room, 2 * members.count)
        }

        /// The members in order.
        mutating func sorted() -> [WebDAVResource] {
            reduce()
            return members.map { $0.resource }
        }

        /// Sorts the members, drops what comes after the last file that the page can need, and keeps each member once, even if the server
        /// names it twice.
        private mutating func reduce() {
            members.sort { $0.order.utf8.lexicographicallyPrecedes($1.order.utf8) }
            var (kept, files): ([Member], Int) = ([], 0)
            for member in members where files <= limit {
                guard kept.last?.order.utf8.elementsEqual(member.order.utf8) != true else { continue }
                if !member.resource.isCollection { files += 1 }
                kept.append(member)
            }
            members = kept
        }
    }
}
