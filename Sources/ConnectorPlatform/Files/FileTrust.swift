// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

#if canImport(Glibc)
    import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// Determines whether only root and this process's user control what a path leads to.
///
/// Follows a path like the system does: through every directory and every symbolic link. Results are cached for each
/// directory; create a new object to check again. Thread-safe.
package final class FileTrust: Sendable {
    /// The target of a path.
    private struct Location {
        /// The path without symbolic links.
        var path: String
        /// The reason that another user could redirect the path; nil if none can.
        var concern: String?
        /// For a directory, the reason that another user could create a file in it; nil if none can.
        var intrusion: String?
        /// Whether the path leads to no file.
        var isMissing = false
        /// Whether the target is a directory.
        var isDirectory = false
    }

    /// The directories examined so far.
    private let known = Mutex<[String: Location]>([:])
    /// The most steps to follow; each directory and each link is one.
    private static let depthLimit = 512

    /// Creates an empty cache.
    package init() {}

    /// The reason that another user could change the target of a path; nil if none can.
    package func concern(_ path: String) -> String? {
        resolve(path, depth: 0).concern
    }

    /// Who may change a file, from its metadata.
    package struct Owner: Sendable {
        fileprivate var user: UInt32
        fileprivate var group: UInt32
        fileprivate var mode: UInt32

        /// Takes the corresponding members of stat(2).
        package init(user: UInt32, group: UInt32, mode: UInt32) {
            (self.user, self.group, self.mode) = (user, group, mode)
        }
    }

    /// The reason that another user could change a file that is not a symbolic link, given its metadata; nil if none can.
    package func concern(_ path: String, _ owner: Owner) -> String? {
        let parent = resolve(path.parentPath, depth: 0)
        if parent.isMissing || parent.concern != nil { return parent.concern ?? concern(path) }
        let place = { parent.path == "/" ? "/\(path.lastPathComponent)" : "\(parent.path)/\(path.lastPathComponent)" }
        return Self.owner(place(), owner) ?? Self.writers(place(), owner)
    }

    /// The reason that another user could create a file in a directory, or a missing directory itself; nil if none can.
    package func concern(directory path: String) -> String? {
        let place = resolve(path, depth: 0)
        return place.concern ?? place.intrusion
    }

    private func resolve(_ path: String, depth: Int) -> Location {
        if let place = known.withLock({ $0[path] }) { return place }
        guard depth < Self.depthLimit else {
            return Location(path: path, concern: "\(path.excerpt) leads nowhere", isMissing: true)
        }
        let place: Location
        if path == "." {
            // The current directory, where every relative path begins, is looked up once.
            let directory = path.rootedPath
            guard directory != path else {
                return Location(path: path, concern: "the path of the working directory is unknown", isMissing: true)
            }
            place = resolve(directory, depth: depth + 1)
        } else if !path.isEmpty, path.utf8.allSatisfy({ $0 == UInt8(ascii: "/") }) {
            place = examine("/", below: nil, depth: depth)
        } else {
            place = step(path, depth: depth)
        }
        if place.isDirectory { known.withLock { $0[path] = place } }
        return place
    }

    /// Resolves the last component of a path.
    private func step(_ path: String, depth: Int) -> Location {
        let parent = resolve(path.parentPath, depth: depth + 1)
        switch path.lastPathComponent {
        case "", ".": return parent
        case "..":
            var place = resolve(parent.path.parentPath, depth: depth + 1)
            place.concern = parent.concern ?? place.concern
            return place
        case let name:
            guard !parent.isMissing else { return parent }
            return examine(parent.path == "/" ? "/\(name)" : "\(parent.path)/\(name)", below: parent, depth: depth)
        }
    }

    /// Examines one entry of a directory.
    private func examine(_ path: String, below parent: Location?, depth: Int) -> Location {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            return Location(path: path, concern: parent?.concern ?? parent?.intrusion, isMissing: true)
        }
        let owner = Owner(user: status.st_uid, group: status.st_gid, mode: UInt32(status.st_mode))
        let concern = parent?.concern ?? Self.owner(path, owner)
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFLNK else { return follow(path, concern: concern, depth: depth) }
        let writers = Self.writers(path, owner)
        let isDirectory = kind == S_IFDIR
        // In a sticky directory, such as /tmp, no user can replace another user's files.
        let isSticky = isDirectory && status.st_mode & S_ISVTX != 0
        return Location(
            path: path,
            concern: concern ?? (isSticky ? nil : writers),
            intrusion: writers,
            isDirectory: isDirectory
        )
    }

    private func follow(_ path: String, concern: String?, depth: Int) -> Location {
        guard depth < Self.depthLimit, let bytes = path.linkTarget else {
            return Location(path: path, concern: concern ?? "\(path.excerpt) leads nowhere", isMissing: true)
        }
        let target = String(decoding: bytes, as: UTF8.self)
        var place = resolve(target.starts(ascii: "/") ? target : "\(path.parentPath)/\(target)", depth: depth + 1)
        place.concern = concern ?? place.concern
        return place
    }

    /// The reason that the owner is a concern; nil for root and this process's user.
    private static func owner(_ path: @autoclosure () -> String, _ owner: Owner) -> String? {
        TrustedUsers.contains(owner.user) ? nil : "\(path()) belongs to the user \(owner.user)"
    }

    /// The reason that other users may write it; nil if none may.
    private static func writers(_ path: @autoclosure () -> String, _ owner: Owner) -> String? {
        if owner.mode & UInt32(S_IWOTH) != 0 { return "every user can write \(path())" }
        // On most systems, a user's private group has the same id as the user; root's group is root.
        if owner.mode & UInt32(S_IWGRP) != 0, owner.group != 0, owner.group != owner.user {
            return "the group \(owner.group) can write \(path())"
        }
        return nil
    }
}
