// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Checks where a file is before SQLite opens it.
enum SQLitePath {
    /// Checks the place of the file, and creates it, for this user alone, if it does not exist.
    ///
    /// - Returns: The path without symbolic links.
    /// - Throws: A ``PluginError`` if another user could have written the file, or could replace it.
    static func checked(_ path: String) throws(PluginError) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        guard !name.isEmpty, name != ".", name != ".." else {
            throw PluginError(.invalid, "file must be the path of a file; \"\(path)\" ends like a directory")
        }
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = try privateDirectory(parent)
        let file = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
        if try status(of: file) == nil { try make(file) }
        guard let status = try status(of: file) else { throw failure("\(file) was removed just now", ENOENT) }
        try check(status, of: file)
        return file
    }

    /// The device and inode number of the file at a path, which may lead through symbolic links; nil if there is no file.
    static func identity(of path: String) -> (device: UInt64, number: UInt64)? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }

    private static func privateDirectory(_ path: String) throws(PluginError) -> String {
        guard let real = unsafe realpath(path, nil) else {
            throw failure("the directory \(path) cannot be used; it must exist", errno)
        }
        defer { unsafe free(real) }
        let directory = unsafe String(cString: real)
        guard let status = try status(of: directory) else {
            throw failure("the directory \(directory) was removed just now", ENOENT)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw failure("\(directory) is not a directory", ENOTDIR)
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw PluginError(
                .denied,
                "other users may change the directory \(directory); it must belong to this user, with mode 0755 or less"
            )
        }
        return directory
    }

    private static func check(_ status: stat, of file: String) throws(PluginError) {
        let kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: ""
            case S_IFDIR: "a directory"
            case S_IFLNK: "a symbolic link"
            case S_IFIFO: "a pipe"
            default: "not a regular file"
            }
        guard kind.isEmpty else { throw PluginError(.invalid, "\(file) is \(kind), and must be a file") }
        guard status.st_uid == geteuid() else {
            throw PluginError(.denied, "\(file) belongs to another user")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw PluginError(.denied, "other users may open \(file); let only its owner: chmod 600")
        }
        guard status.st_mode & 0o600 == 0o600 else {
            throw PluginError(.denied, "\(file) cannot be written; let its owner: chmod 600")
        }
    }

    /// Creates an empty file. Never opens an existing one, which may be another user's or locked by SQLite: closing a
    /// file gives up the process's locks on it.
    private static func make(_ file: String) throws(PluginError) {
        let descriptor = unsafe open(file, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw failure("\(file) cannot be made", errno)
        }
    }

    /// The status of what is at a path; nil if nothing is there. Never opens a file.
    private static func status(of path: String) throws(PluginError) -> stat? {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw failure("\(path) cannot be read", errno) }
        return nil
    }

    private static func failure(_ message: String, _ number: Int32) -> PluginError {
        let status: PluginStatus =
            switch number {
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM, EROFS, ELOOP: .denied
            case ENAMETOOLONG: .invalid
            default: .unavailable
            }
        let words = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return PluginError(status, "\(message): \(words)", domain: "errno", detail: number)
    }
}
