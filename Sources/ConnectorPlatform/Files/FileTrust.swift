// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Tells whether only root and this process's own user decide what a path leads to.
///
/// It follows a path as the system does: through every directory and every symbolic link. It examines each directory once, so
/// make a new one to look again.
package final class FileTrust: Sendable {
    /// What a path leads to.
    private struct Location {
        /// The path without symbolic links.
        var path: String
        /// Why another user could make the path lead elsewhere; nil if none can.
        var concern: String?
        /// Why another user could put a file in, if it is a directory; nil if none can.
        var intrusion: String?
        /// Whether nothing is there.
        var isMissing = false
        /// Whether it is a directory.
        var isDirectory = false
    }

    /// The directories examined so far.
    private let known = Mutex<[String: Location]>([:])
    /// More steps than a path takes that people made: each directory is one, and each link.
    private static let depthLimit = 512

    /// Examines nothing yet.
    package init() {}

    /// Why another user could change what a path leads to; nil if none can.
    package func concern(_ path: String) -> String? {
        resolve(path.rootedPath, depth: 0).concern
    }

    /// Why another user could put a file into a directory, or a directory where there is none; nil if none can.
    package func concern(directory path: String) -> String? {
        let place = resolve(path.rootedPath, depth: 0)
        return place.concern ?? place.intrusion
    }

    private func resolve(_ path: String, depth: Int) -> Location {
        if let place = known.withLock({ $0[path] }) { return place }
        guard depth < Self.depthLimit else {
            return Location(path: path, concern: "\(path.excerpt) leads nowhere", isMissing: true)
        }
        let place = path.allSatisfy { $0 == "/" } ? examine("/", below: nil, depth: depth) : step(path, depth: depth)
        if place.isDirectory { known.withLock { $0[path] = place } }
        return place
    }

    /// Takes the last step of a path.
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

    /// Examines what a directory has under a name.
    private func examine(_ path: String, below parent: Location?, depth: Int) -> Location {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            return Location(path: path, concern: parent?.concern ?? parent?.intrusion, isMissing: true)
        }
        let concern = parent?.concern ?? Self.owner(path, status)
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFLNK else { return follow(path, below: parent, concern: concern, depth: depth) }
        let writers = Self.writers(path, status)
        let isDirectory = kind == S_IFDIR
        // In a sticky directory, such as /tmp, nobody can replace what belongs to another user.
        let isSticky = isDirectory && status.st_mode & S_ISVTX != 0
        return Location(
            path: path,
            concern: concern ?? (isSticky ? nil : writers),
            intrusion: writers,
            isDirectory: isDirectory
        )
    }

    private func follow(_ path: String, below parent: Location?, concern: String?, depth: Int) -> Location {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0, count < buffer.count, depth < Self.depthLimit else {
            return Location(path: path, concern: concern ?? "\(path.excerpt) leads nowhere", isMissing: true)
        }
        let target = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var place = resolve(target.hasPrefix("/") ? target : "\(path.parentPath)/\(target)", depth: depth + 1)
        place.concern = concern ?? place.concern
        return place
    }

    /// Why its owner is a concern; nil for root and this process's user.
    private static func owner(_ path: String, _ status: stat) -> String? {
        TrustedUsers.contains(status.st_uid) ? nil : "\(path) belongs to the user \(status.st_uid)"
    }

    /// Which other users may write it; nil if none may.
    private static func writers(_ path: String, _ status: stat) -> String? {
        if status.st_mode & S_IWOTH != 0 { return "everybody can write \(path)" }
        // By the custom of most systems, a user's private group has the user's number; root's group is root.
        if status.st_mode & S_IWGRP != 0, status.st_gid != 0, status.st_gid != status.st_uid {
            return "the group \(status.st_gid) can write \(path)"
        }
        return nil
    }
}
