// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Finds the files of one page: a walk through the directories in the order of the paths' bytes.
///
/// It looks only into directories that can hold some of the page, and holds no more than one of them open.
struct FolderListing {
    private let root: FolderRoot
    private let prefix: String
    private let after: String
    private let limit: Int
    private let call: FolderCall
    private var files: [FileEntry] = []

    init(_ root: FolderRoot, prefix: String, after: String, limit: Int, during call: FolderCall) {
        self.root = root
        self.prefix = prefix
        self.after = after
        self.limit = limit
        self.call = call
    }

    /// Walks until the page is full, and one file more is found.
    mutating func page() throws(PluginError) -> FilePage {
        try visit([])
        return FilePage(files: Array(files.prefix(limit)), hasMore: files.count > limit)
    }

    /// A name in a directory, ordered as its paths are: those of a directory go on with a slash.
    private struct Name {
        var path: String
        var name: String
        var isDirectory: Bool
    }

    private mutating func visit(_ directory: [String]) throws(PluginError) {
        if let end = call.end { throw end }
        for entry in try entries(of: directory) {
            guard files.count <= limit else { return }
            if entry.isDirectory {
                try visit(directory + [entry.name])
            } else if let file = try? root.file(entry.path).entry() {
                // One that was removed just now is not listed.
                files.append(FileEntry(path: file.path, size: file.size, modified: file.modified, tag: file.tag))
            }
        }
    }

    /// What a directory holds that may be on the page, in order. Empty if it was removed just now.
    private func entries(of directory: [String]) throws(PluginError) -> [Name] {
        let base = directory.map { $0 + "/" }.joined()
        let handle: FolderHandle
        do throws(PluginError) {
            handle = try root.directory(directory, "the directory \"\(base)\" cannot be read")
        } catch {
            if error.status == .notFound || error.status == .conflict { return [] }
            throw error
        }
        var entries: [Name] = []
        for name in try root.names(in: handle) where !(directory.isEmpty && name == FolderRoot.uploadsName) {
            let path = base + name
            guard (try? FilePathRule.check(path)) != nil, mayHold(path),
                let status = try root.status(of: name, in: handle), status.isFile || status.isDirectory
            else { continue }
            let entry = Name(
                path: status.isDirectory ? path + "/" : path,
                name: name,
                isDirectory: status.isDirectory
            )
            if isOnPage(entry) { entries.append(entry) }
        }
        return entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Whether the name may lead to a path with the prefix, as a file or as a directory.
    private func mayHold(_ path: String) -> Bool {
        path.utf8.starts(with: prefix.utf8) || prefix.utf8.starts(with: (path + "/").utf8)
    }

    /// Whether the file, or some file of the directory, is on the page or comes after it.
    private func isOnPage(_ entry: Name) -> Bool {
        let isLater = after.utf8.lexicographicallyPrecedes(entry.path.utf8)
        guard entry.isDirectory else { return isLater && entry.path.utf8.starts(with: prefix.utf8) }
        // The page may begin within the directory.
        return isLater || after.utf8.starts(with: entry.path.utf8)
    }
}
