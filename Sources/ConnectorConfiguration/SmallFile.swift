// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The content of a small file that people write: a configuration, a secret.
struct SmallFile: Sendable {
    /// The whole content.
    let bytes: [UInt8]
    /// The permission bits of chmod(1).
    let permissions: UInt32

    /// Reads a regular file.
    ///
    /// The file is opened without blocking, since opening a pipe would wait for a writer.
    ///
    /// - Throws: `not-found`, `unreadable`, or `too-large` for more bytes than the limit.
    init(reading path: String, limit: Int) throws(ConnectorError) {
        guard !path.utf8.contains(0) else { throw ConnectorError(.notFound, "the file's name contains NUL") }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "not a regular file"
            throw ConnectorError(.unreadable, "\(path.excerpt) is \(kind)")
        }
        permissions = UInt32(status.st_mode) & 0o7777
        // Reading one byte more than allowed detects a file that is too large, even one that grows meanwhile.
        var failed: Int32?
        // Files that the system generates, as in /proc, report a size of 0 whatever they hold.
        let most = status.st_size > 0 ? limit : min(limit, 64 << 10)
        let room = min(status.st_size > 0 ? Int(status.st_size) : most, most) + 1
        let read = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            while count < room, failed == nil {
                let result = unsafe pread(
                    descriptor,
                    buffer.baseAddress.map { unsafe $0 + count },
                    room - count,
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
        if let failed { throw Self.failure(path, failed) }
        guard read.count <= most else {
            throw ConnectorError(.tooLarge, "\(path.excerpt) has more than \(most >> 10) KiB")
        }
        bytes = read
    }

    private static func failure(_ path: String, _ number: Int32) -> ConnectorError {
        switch number {
        case ENOENT, ENOTDIR:
            ConnectorError(
                .notFound,
                "there is no file \(path.excerpt)",
                fix: "check the path",
                cause: SystemError(number).description
            )
        default:
            ConnectorError(
                .unreadable,
                "\(path.excerpt) cannot be read",
                fix: "check the permissions of the file and its directories",
                cause: SystemError(number).description
            )
        }
    }
}
