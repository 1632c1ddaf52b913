// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// The look-ups that the system makes to follow a path: each of one name in one directory, including those of symbolic links.
///
/// What the path leads to changes only if one of them does, or the content of the file itself.
package struct PathLookups: Sendable, Hashable {
    /// One name that is looked up in one directory.
    package struct Lookup: Sendable, Hashable {
        /// The directory, without symbolic links.
        package var directory: String
        /// The name in it.
        package var name: String
    }

    /// The look-ups, in their order; the last one fails if the path leads nowhere.
    package private(set) var lookups: [Lookup] = []
    /// What the path leads to, without symbolic links; nil if it leads nowhere.
    package private(set) var target: String?

    /// The most look-ups: links that lead to each other never end.
    private static let limit = 512

    /// Follows a path.
    package init(of path: String) {
        // Empty for the root.
        var directory = ""
        var pending = Array(path.rootedPath.split(ascii: "/").reversed())
        while let name = pending.popLast() {
            guard lookups.count < Self.limit else { return }
            guard name != "." else { continue }
            guard name != ".." else {
                directory = String(
                    directory[..<(directory.utf8.lastIndex(of: UInt8(ascii: "/")) ?? directory.startIndex)]
                )
                continue
            }
            lookups.append(Lookup(directory: directory.isEmpty ? "/" : directory, name: String(name)))
            let full = "\(directory)/\(name)"
            var status = stat()
            guard unsafe lstat(full, &status) == 0 else { return }
            if status.st_mode & S_IFMT == S_IFLNK {
                guard let bytes = full.linkTarget else { return }
                let link = String(decoding: bytes, as: UTF8.self)
                if link.starts(ascii: "/") { directory = "" }
                pending += link.split(ascii: "/").reversed()
            } else if pending.isEmpty || status.st_mode & S_IFMT == S_IFDIR {
                directory = full
            } else {
                return
            }
        }
        target = directory.isEmpty ? "/" : directory
    }
}
