// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Finds the files of one page: a walk through the directories in the order of the paths' bytes.
///
/// It looks only into directories that can hold some of the page, and holds no more than one of them open.
struct FolderListing {
    private let root: FolderRoot
    private let selection: FileSelection
    private let limit: Int
    private let call: DiskCall
    private var files: [FileEntry] = []

    init(_ root: FolderRoot, prefix: String, after: String, limit: Int, during call: DiskCall) {
        self.root = root
        selection = FileSelection(prefix: prefix, after: after)
        self.limit = limit
        self.call = call
    }

    /// Walks until the page is full, and one file more is found.
    mutating func page() throws(PluginError) -> FilePage {
        try visit([])
        return FilePage(files: Array(files.prefix(limit)), hasMore: files.count > limit)
    }

    /// What has a name in a directory, ordered as its paths are: those of a directory continue with a slash.
    private struct Name {
        var path: String
        var name: String
        var status: stat
    }

    /// - Parameter isForeign: Whether the directory belongs to another user.
    private mutating func visit(_ directory: [String], isForeign: Bool = false) throws(PluginError) {
        if let end = call.end { throw end }
        for entry in try entries(of: directory, isForeign) {
            guard files.count <= limit else { return }
            let status = entry.status
            if status.isDirectory {
                try visit(directory + [entry.name], isForeign: status.st_uid != geteuid())
            } else {
                let size = UInt64(clamping: status.st_size)
                files.append(FileEntry(path: entry.path, size: size, modified: status.modified, tag: status.tag))
            }
        }
    }

    /// What a directory holds that may be on the page, in order.
    ///
    /// Empty if it was removed just now, and if another user keeps it for itself, as `lost+found` of a file system.
    private func entries(of directory: [String], _ isForeign: Bool) throws(PluginError) -> [Name] {
        let base = directory.map { $0 + "/" }.joined()
        let handle: FolderHandle
        do throws(PluginError) {
            handle = try root.directory(directory, "the directory \"\(base)\" cannot be read")
        } catch {
            let isKept = isForeign && error.detail == EACCES
            if error.status == .notFound || error.status == .conflict || isKept { return [] }
            throw error
        }
        var entries: [Name] = []
        for name in try root.names(in: handle) where !(directory.isEmpty && name == FolderRoot.uploadsName) {
            let path = base + name
            // Looks at no file that cannot be on the page, whatever it is.
            guard selection.mayInclude(below: path + "/"), (try? FilePathRule.check(path)) != nil,
                let status = try root.status(of: name, in: handle),
                status.isDirectory || status.isFile && selection.includes(path)
            else { continue }
            entries.append(Name(path: status.isDirectory ? path + "/" : path, name: name, status: status))
        }
        return entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
