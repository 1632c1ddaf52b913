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
        var members: [(order: String, resource: WebDAVResource)] = []
        for member in try await connection.members(of: collection) {
            let path = member.path
            guard path != WebDAVRequests.uploadsName, (try? FilePathRule.check(path)) != nil else { continue }
            // The paths below a collection continue with a slash.
            if member.isCollection {
                if selection.mayInclude(below: path + "/") { members.append((path + "/", member)) }
            } else if selection.includes(path) {
                members.append((path, member))
            }
        }
        members.sort { $0.order.utf8.lexicographicallyPrecedes($1.order.utf8) }
        for (order, member) in members {
            guard files.count <= limit else { return }
            // Count a file once, even if the server names it twice.
            if member.isCollection {
                try await visit(member.path)
            } else if files.last?.path.utf8.elementsEqual(order.utf8) != true {
                files.append(try member.entry())
            }
        }
    }
}
