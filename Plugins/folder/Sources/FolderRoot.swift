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

/// The open directory, and the only way to its contents: segment by segment, never through a symbolic link.
final class FolderRoot: Sendable {
    private let path: String
    private let root: FolderHandle
    /// The directory of uploads until they complete: on the same file system, so that a rename puts a file in place.
    let uploads: FolderHandle

    /// The name of the directory with uploads. No file can be put there.
    static let uploadsName = ".connector-uploads"

    /// Opens the directory; creates it if it does not exist.
    init(_ path: String) throws(PluginError) {
        self.path = path
        let message = "the directory \(path) cannot be used"
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw FolderFailure.error(message) }
        root = try FolderHandle(unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), message)
        _ = unsafe mkdirat(root.descriptor, Self.uploadsName, 0o700)
        uploads = try Self.directory(Self.uploadsName, in: root, message)
        let status = try uploads.status()
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw PluginError(.denied, "\(path)/\(Self.uploadsName) must belong to this user, with mode 0755 or less")
        }
    }

    /// Whether the directory is still where it was opened.
    var isInPlace: Bool {
        var found = stat()
        return unsafe stat(path, &found) == 0 && root.isOf(found)
    }

    /// Whether the directory of uploads is still in it.
    var hasUploads: Bool {
        guard let place = try? status(of: Self.uploadsName, in: root) else { return false }
        return uploads.isOf(place)
    }

    /// Creates a file and removes it.
    ///
    /// - Returns: The bytes that this user may still write.
    func proveWritable() throws(PluginError) -> UInt64 {
        let message = "the directory \(path) cannot be written"
        let (name, flags) = (RandomIdentifier.uuid(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
        _ = try FolderHandle(unsafe openat(uploads.descriptor, name, flags, 0o600), message)
        _ = unsafe unlinkat(uploads.descriptor, name, 0)
        var status = statvfs()
        guard unsafe fstatvfs(root.descriptor, &status) == 0 else { throw FolderFailure.error(message) }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : bytes
    }

    /// Removes the leftovers of uploads whose process is gone. An upload under way holds a lock, in this process or
    /// another.
    func removeLeftovers() throws(PluginError) {
        for name in try names(in: uploads) {
            let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            guard let handle = try? FolderHandle(unsafe openat(uploads.descriptor, name, flags), name),
                flock(handle.descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            _ = unsafe unlinkat(uploads.descriptor, name, 0)
        }
    }

    /// Opens a file.
    ///
    /// - Throws: `notFound` if there is no such file, and for a directory.
    func file(_ path: String) throws(PluginError) -> FolderFile {
        let (parents, name) = try Self.segments(of: path)
        let missing = PluginError(.notFound, "there is no file \"\(path)\"")
        do throws(PluginError) {
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            let parent = try directory(parents, "\"\(path)\" cannot be read")
            let handle = try FolderHandle(
                unsafe openat(parent.descriptor, name, flags),
                "\"\(path)\" cannot be read"
            )
            guard try handle.status().isFile else { throw missing }
            return FolderFile(path: path, handle: handle)
        } catch {
            throw [ENOENT, ENOTDIR, ENXIO].contains(error.detail) ? missing : error
        }
    }

    /// Removes a file, and the directories that this leaves empty. Does nothing if there is no such file.
    func remove(_ path: String) throws(PluginError) {
        let message = "\"\(path)\" cannot be removed"
        do throws(PluginError) {
            _ = try file(path)
        } catch {
            if error.status == .notFound { return }
            throw error
        }
        let (directories, name) = try Self.segments(of: path)
        var parents = directories
        var parent = try directory(parents, message)
        guard unsafe unlinkat(parent.descriptor, name, 0) == 0 || errno == ENOENT else {
            throw FolderFailure.error(message)
        }
        try sync(parent, message)
        while let last = parents.popLast(), let above = try? directory(parents, message),
            unsafe unlinkat(above.descriptor, last, AT_REMOVEDIR) == 0
        {
            parent = above
        }
        try sync(parent, message)
    }

    // MARK: Directories

    /// Splits a path into the names of its directories and the name of the file.
    static func segments(of path: String) throws(PluginError) -> (directories: [String], name: String) {
        // Split by bytes: to Swift, a slash with a combining mark after it is a different character.
        var segments = path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        guard let name = segments.popLast() else { throw PluginError(.invalid, "the path is empty") }
        guard (segments.first ?? name) != uploadsName else {
            throw PluginError(.invalid, "\"\(uploadsName)\" is the adapter's own; use another name")
        }
        return (segments, name)
    }

    /// Opens a directory below the root; creates missing directories if `making` is true.
    func directory(
        _ names: [String],
        making: Bool = false,
        _ message: @autoclosure () -> String
    ) throws(PluginError) -> FolderHandle {
        var handle = root
        for name in names {
            if making {
                if unsafe mkdirat(handle.descriptor, name, 0o700) == 0 {
                    try sync(handle, message())
                } else if errno != EEXIST {
                    throw FolderFailure.error(message())
                }
            }
            handle = try Self.directory(name, in: handle, message())
        }
        return handle
    }

    private static func directory(
        _ name: String,
        in parent: FolderHandle,
        _ message: @autoclosure () -> String
    ) throws(PluginError) -> FolderHandle {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        return try FolderHandle(unsafe openat(parent.descriptor, name, flags), message())
    }

    /// Flushes a directory's names to the disk if the file system can; those that share a virtual machine's host
    /// folders cannot.
    func sync(_ directory: FolderHandle, _ message: @autoclosure () -> String) throws(PluginError) {
        guard fsync(directory.descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw FolderFailure.error(message())
        }
    }

    /// The names in a directory, in no particular order, without `.`, `..` and names that are not UTF-8.
    func names(in directory: FolderHandle) throws(PluginError) -> [String] {
        // The stream closes its descriptor. Opening the directory again gives it its own read position.
        let copy = try Self.directory(".", in: directory, "the directory cannot be read")
        let number = fcntl(copy.descriptor, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { throw FolderFailure.error("the directory cannot be read") }
        guard let stream = unsafe fdopendir(number) else {
            let error = FolderFailure.error("the directory cannot be read")
            close(number)
            throw error
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            // The name's array is declared longer than the record may be: take its address instead of copying it.
            let start = unsafe UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            let name = unsafe String(validatingCString: start.assumingMemoryBound(to: CChar.self))
            if let name, name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FolderFailure.error("the directory cannot be read to its end") }
        return names
    }

    /// Inode number, size and times of a directory's entry with a name; nil if there is none. Opens nothing.
    func status(of name: String, in directory: FolderHandle) throws(PluginError) -> stat? {
        var status = stat()
        if unsafe fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
        guard errno == ENOENT else { throw FolderFailure.error("\"\(name)\" cannot be read") }
        return nil
    }
}
