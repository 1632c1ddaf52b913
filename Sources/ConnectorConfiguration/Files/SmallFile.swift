// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
    // As in OpenFile: whole-module builds may take `timespec` from this module.
    import SwiftOverlayShims
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The content of a small file, such as a configuration or a secret.
package struct SmallFile: Sendable {
    /// The file's content.
    package let bytes: [UInt8]
    /// The permission bits of chmod(1).
    package let permissions: UInt32
    /// When the content last changed.
    package let modified: Timestamp

    /// Reads a regular file.
    ///
    /// The file is opened non-blocking, because opening a FIFO would otherwise wait for a writer.
    ///
    /// - Throws: `not-found`, `unreadable`, or `too-large` if the file exceeds the limit.
    package init(reading path: String, limit: Int) throws(ConnectorError) {
        guard !path.utf8.contains(0) else {
            throw ConnectorError(.notFound, "the file name contains NUL", fix: "check the path")
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            guard status.st_mode & S_IFMT != S_IFDIR else {
                throw ConnectorError(
                    .unreadable,
                    "\(path.withGivenPaths.excerpt) is a directory",
                    fix: "check that it is the right path"
                )
            }
            throw Self.irregular(path)
        }
        permissions = UInt32(status.st_mode) & 0o7777
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        modified = Timestamp(nanoseconds: UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(max(0, time.tv_nsec)))
        bytes = try Self.content(of: descriptor, expecting: Int(status.st_size), limit: limit, path)
    }

    /// Reads a regular file that somebody has named: the error for a missing one says which was probably meant.
    ///
    /// - Throws: As ``init(reading:limit:)``.
    package init(named path: String, limit: Int) throws(ConnectorError) {
        do throws(ConnectorError) {
            try self.init(reading: path, limit: limit)
        } catch {
            var error = error
            if error.code == .notFound { error.fix = NearbyPath.remedy(for: path) }
            throw error
        }
    }

    /// Reads an open file to its end.
    ///
    /// - Parameters:
    ///   - size: The size that the system reported. The file may have grown since, and files that the system generates,
    ///     as in `/proc`, report 0.
    ///   - limit: The maximum size, in bytes.
    ///   - path: The file's name, for errors.
    static func content(
        of descriptor: Int32,
        expecting size: Int,
        limit: Int,
        _ path: String
    ) throws(ConnectorError) -> [UInt8] {
        let expected = min(size > 0 ? size : 64 << 10, limit)
        // One more byte shows a file that is larger.
        var bytes = try read(descriptor, upTo: expected + 1, path)
        if bytes.count > expected, expected < limit { bytes = try read(descriptor, upTo: limit + 1, path) }
        guard bytes.count <= limit else {
            throw ConnectorError(
                .tooLarge,
                "\(path.withGivenPaths.excerpt) has more than \(limit >> 10) KiB",
                fix: "check that it is the right file"
            )
        }
        return bytes
    }

    private static func read(
        _ descriptor: Int32,
        upTo capacity: Int,
        _ path: String
    ) throws(ConnectorError) -> [UInt8] {
        var failed: Int32?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            while count < capacity, failed == nil {
                let result = unsafe pread(
                    descriptor,
                    buffer.baseAddress.map { unsafe $0 + count },
                    capacity - count,
                    off_t(count)
                )
                if result == 0 { break }
                if result > 0 {
                    count += result
                } else if errno != EINTR {
                    failed = errno
                }
            }
        }
        if let failed { throw failure(path, failed) }
        return bytes
    }

    private static func irregular(_ path: String) -> ConnectorError {
        ConnectorError(
            .unreadable,
            "\(path.withGivenPaths.excerpt) is not a regular file",
            fix: "write its content to a file first"
        )
    }

    private static func failure(_ path: String, _ number: Int32) -> ConnectorError {
        switch number {
        // Sockets, and devices that nothing serves, cannot even be opened.
        case ENXIO, ENODEV: irregular(path)
        case ENOENT, ENOTDIR:
            ConnectorError(
                .notFound,
                "there is no file \(path.withGivenPaths.excerpt)",
                fix: "check the path",
                cause: SystemError(number).description
            )
        default:
            ConnectorError(
                .unreadable,
                "\(path.withGivenPaths.excerpt) cannot be read",
                fix: SystemError(number).openingRemedy,
                cause: SystemError(number).description
            )
        }
    }
}
