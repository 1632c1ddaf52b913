// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Directories: what is in them, and those that are for this user alone.
package enum Directory {
    /// What a directory has under a name.
    package struct Entry: Sendable {
        /// The name, without a slash.
        package var name: String
        /// Whether it is a directory; nil if the directory does not tell, as of symbolic links.
        package var isDirectory: Bool?
    }

    /// What is in a directory, in no order, without `.` and `..`.
    package static func entries(of path: String) throws(SystemError) -> [Entry] {
        guard let stream = unsafe opendir(path) else { throw SystemError() }
        defer { unsafe closedir(stream) }
        var entries: [Entry] = []
        while let entry = unsafe readdir(stream) {
            // The array is declared longer than the record is: take the address, not a copy.
            let start = unsafe UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            let name = unsafe String(cString: start.assumingMemoryBound(to: CChar.self))
            guard name != ".", name != ".." else { continue }
            let isDirectory: Bool? =
                switch unsafe Int32(entry.pointee.d_type) {
                case Int32(DT_DIR): true
                case Int32(DT_REG): false
                default: nil
                }
            entries.append(Entry(name: name, isDirectory: isDirectory))
        }
        return entries
    }

    // MARK: For this user alone

    /// Makes a directory, and those above it, for this user alone. What exists stays as it is.
    package static func makePrivate(_ directory: String) throws(SystemError) {
        if unsafe mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw SystemError() }
        var path = directory.hasPrefix("/") ? "" : "."
        for part in directory.split(separator: "/") {
            path += "/" + part
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError() }
        }
    }

    /// Checks that a directory is this user's, and that no other can enter it.
    ///
    /// - Throws: `ENOTDIR` for anything else under that path, a symbolic link included; `EPERM` for a directory of another user, or
    ///   one that others can enter.
    package static func checkPrivate(_ directory: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(directory, &status) == 0 else { throw SystemError() }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(ENOTDIR) }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { throw SystemError(EPERM) }
    }

    /// Opens a directory, and keeps others out of it.
    ///
    /// A directory of this user that others can enter is closed to them; one of another user, root excepted, is refused: whoever
    /// owns it may exchange the files.
    ///
    /// - Returns: A descriptor, which the caller closes.
    /// - Throws: `EPERM` for a directory that is refused.
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
