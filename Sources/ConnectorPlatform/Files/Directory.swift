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

/// Lists directories, and creates and checks private ones, which only this user can enter.
package enum Directory {
    /// One entry of a directory.
    package struct Entry: Sendable {
        /// The name, without a slash. If it is not UTF-8, it is repaired, and leads to no file.
        package var name: String
        /// The bytes of a name that is not UTF-8, with a zero at the end; nil for any other.
        package var bytes: [CChar]?
        /// Whether the entry is a directory; nil if the file system does not say, and for symbolic links.
        package var isDirectory: Bool?
    }

    /// The entries of a directory, in no order, without `.` and `..`.
    package static func entries(of path: String) throws(SystemError) -> [Entry] {
        try entries(of: Array(path.utf8CString))
    }

    /// The entries of a directory whose path may not be UTF-8.
    ///
    /// - Parameter path: The bytes of the path, with a zero at the end.
    static func entries(of path: [CChar]) throws(SystemError) -> [Entry] {
        guard let stream = unsafe opendir(path) else { throw SystemError() }
        defer { unsafe closedir(stream) }
        var entries: [Entry] = []
        while true {
            // Nothing else distinguishes the end of the directory from an error.
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw SystemError() }
                return entries
            }
            // The name's array is declared longer than the record may be: take its address instead of copying it.
            let start = unsafe UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            let bytes = unsafe start.assumingMemoryBound(to: CChar.self)
            let valid = unsafe String(validatingCString: bytes)
            let name = if let valid { valid } else { unsafe String(cString: bytes) }
            guard name != ".", name != ".." else { continue }
            let isDirectory: Bool? =
                switch unsafe Int32(entry.pointee.d_type) {
                case Int32(DT_DIR): true
                case Int32(DT_REG): false
                default: nil
                }
            let kept = unsafe valid == nil ? Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes) + 1)) : nil
            entries.append(Entry(name: name, bytes: kept, isDirectory: isDirectory))
        }
    }

    /// Creates a directory and its missing parents. Existing directories stay unchanged.
    package static func make(_ directory: String, mode: UInt16) throws(SystemError) {
        if unsafe mkdir(directory, mode_t(mode)) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw SystemError() }
        var path = directory.starts(ascii: "/") ? "" : "."
        for part in directory.split(ascii: "/") {
            path += "/" + part
            guard unsafe mkdir(path, mode_t(mode)) == 0 || errno == EEXIST else { throw SystemError() }
        }
    }

    /// Puts the names in a directory on stable storage.
    package static func synchronize(_ directory: String) throws(SystemError) {
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemError() }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw SystemError() }
    }

    // MARK: For this user alone

    /// Creates a directory and its missing parents with mode 0700. Existing directories stay unchanged.
    package static func makePrivate(_ directory: String) throws(SystemError) {
        try make(directory, mode: 0o700)
    }

    /// Checks that this user owns a directory, and that no other user can enter it.
    ///
    /// - Throws: `ENOTDIR` for anything else under that path, a symbolic link included; `EPERM` for a directory of another user, or
    ///   one that others can enter.
    package static func checkPrivate(_ directory: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(directory, &status) == 0 else { throw SystemError() }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(ENOTDIR) }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { throw SystemError(EPERM) }
    }

    /// Opens a directory, and denies other users access to it.
    ///
    /// Restricts the mode of this user's directory if others can enter it. Rejects a directory of another user except
    /// root, because its owner could replace the files.
    ///
    /// - Returns: A descriptor, which the caller closes.
    /// - Throws: `EPERM` for a directory of another user.
    package static func openPrivate(_ directory: String) throws(SystemError) -> Int32 {
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemError() }
        do throws(SystemError) {
            var status = stat()
            guard unsafe fstat(folder, &status) == 0 else { throw SystemError() }
            let isOurs = status.st_uid == geteuid()
            guard isOurs || TrustedUsers.contains(status.st_uid) && status.st_mode & 0o022 == 0 else {
                throw SystemError(EPERM)
            }
            if isOurs, status.st_mode & 0o077 != 0 {
                guard fchmod(folder, 0o700) == 0 else { throw SystemError() }
            }
            return folder
        } catch {
            close(folder)
            throw error
        }
    }
}
