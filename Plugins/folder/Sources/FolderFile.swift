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

/// A descriptor, closed with the last reference.
final class FolderHandle: Sendable {
    let descriptor: Int32

    /// Owns a descriptor.
    ///
    /// - Throws: The error of the last call if the descriptor is negative.
    init(_ descriptor: Int32, _ failure: @autoclosure () -> String) throws(PluginError) {
        let number = errno
        self.descriptor = descriptor
        guard descriptor >= 0 else { throw FolderFailure.error(failure(), number) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Inode number, size and times of the open file or directory.
    func status() throws(PluginError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FolderFailure.error("fstat") }
        return status
    }

    /// Whether what is open is what has this status.
    func isOf(_ found: stat) -> Bool {
        guard let mine = try? status() else { return false }
        return found.st_dev == mine.st_dev && found.st_ino == mine.st_ino
    }
}

/// An open file of the directory.
struct FolderFile {
    /// The path below the root.
    let path: String
    let handle: FolderHandle

    /// Inode number, size and times of the file.
    func status() throws(PluginError) -> stat { try handle.status() }

    /// The media type; nil if unknown.
    var contentType: String? { FolderAttributes.contentType(of: handle) }

    /// The answer to `head`.
    func entry() throws(PluginError) -> FileEntry {
        let status = try status()
        return FileEntry(
            path: path,
            size: UInt64(clamping: status.st_size),
            modified: status.modified,
            tag: status.tag,
            contentType: contentType,
            digest: FolderAttributes.digest(of: handle, status)
        )
    }

    /// Reads `count` bytes; fewer at the end of the file.
    func read(from offset: UInt64, count: Int) throws(PluginError) -> [UInt8] {
        var done = 0
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            while done < count, let start = target.baseAddress {
                result = unsafe pread(
                    handle.descriptor,
                    start + done,
                    count - done,
                    off_t(clamping: offset) + off_t(done)
                )
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { break }
                done += result
            }
            filled = done
        }
        guard result >= 0 else { throw FolderFailure.error("\"\(path)\" cannot be read") }
        return bytes
    }
}

extension stat {
    /// Inode number, size and modification time, which stay the same until the content changes.
    var tag: String {
        let number = UInt64(truncatingIfNeeded: st_ino)
        return [number, UInt64(clamping: st_size), modified.nanoseconds].map { String($0, radix: 16) }
            .joined(separator: "-")
    }

    /// When the content last changed.
    var modified: Timestamp {
        #if canImport(Darwin)
            let time = st_mtimespec
        #else
            let time = st_mtim
        #endif
        let (seconds, nanoseconds) = (UInt64(clamping: time.tv_sec), UInt64(clamping: time.tv_nsec))
        // Clamp to the end of the year 2499; no real file is newer.
        return Timestamp(nanoseconds: min(seconds, 16_725_225_599) * 1_000_000_000 + min(nanoseconds, 999_999_999))
    }

    /// Whether this is a regular file.
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }

    /// Whether this is a directory.
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
}
