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

/// Finds the files of one page by walking the directories in the order of the paths' bytes.
///
/// It visits only directories that may contain files of the page, and keeps at most one of them open at a time.
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

    /// Walks until the page is full and one more file is found.
    mutating func page() throws(PluginError) -> FilePage {
        try visit([])
        return FilePage(files: Array(files.prefix(limit)), hasMore: files.count > limit)
    }

    /// An entry of a directory. Its path gives the order: that of a directory ends with a slash, as the paths below it
    /// continue.
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

    /// The entries of a directory that may belong on the page, in order.
    ///
    /// Empty if the directory has just been removed, or if another user denies access to it, as for a file system's
    /// `lost+found`.
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
            // Skip names that cannot be on the page before looking at what they name.
            guard selection.mayInclude(below: path + "/"), (try? FilePathRule.check(path)) != nil,
                let status = try root.status(of: name, in: handle),
                status.isDirectory || status.isFile && selection.includes(path)
            else { continue }
            entries.append(Name(path: status.isDirectory ? path + "/" : path, name: name, status: status))
        }
        return entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
