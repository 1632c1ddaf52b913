// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
    // Files that are compiled together take `stat` and `timespec` from whichever of the two modules comes
    // first.
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// A regular file open for reading, closed when the value is destroyed.
package struct OpenFile: ~Copyable {
    /// The stamp of the opened file.
    package let stamp: FileStamp
    private var descriptor: Int32

    /// Opens a regular file of a size that a plugin or manifest may have.
    ///
    /// Opens nothing else, because opening alone has effects: it starts a watchdog, or releases the writer of a pipe. Never
    /// blocks, even if the file becomes a pipe meanwhile, whose opening normally waits for a writer.
    ///
    /// - Throws: `not-found`, `unreadable` or `too-large`.
    package init(path: String, limit: Int = ImageBytes.sizeLimit) throws(ConnectorError) {
        if let found = FileStamp(path: path) { try Self.checkKind(of: found, path) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        try self.init(adopting: descriptor, path: path, limit: limit)
    }

    /// Opens a file that somebody has named: the error for a missing one says which was probably meant.
    ///
    /// - Throws: As ``init(path:limit:)``.
    package static func named(_ path: String, limit: Int = ImageBytes.sizeLimit) throws(ConnectorError) -> OpenFile {
        do throws(ConnectorError) {
            return try OpenFile(path: path, limit: limit)
        } catch {
            var error = error
            if error.code == .notFound { error.fix = NearbyPath.remedy(for: path, otherwise: missingRemedy) }
            throw error
        }
    }

    /// Takes ownership of the descriptor of a regular file of such a size; -1 with `errno` if it could not be opened.
    ///
    /// - Throws: As ``init(path:limit:)``.
    package init(adopting descriptor: Int32, path: String, limit: Int = ImageBytes.sizeLimit) throws(ConnectorError) {
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        guard let stamp = FileStamp(descriptor: descriptor) else {
            let number = errno
            close(descriptor)
            throw Self.failure(path, number)
        }
        do throws(ConnectorError) {
            try Self.checkKind(of: stamp, path)
            guard stamp.size <= limit else {
                throw ConnectorError(
                    .tooLarge,
                    "\(path) has \(stamp.size) bytes, more than the limit of \(limit >> 10) KiB",
                    fix: "check that it is the right file"
                )
            }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.stamp = stamp
    }

    /// Takes ownership of an open descriptor.
    package init(adopting descriptor: Int32, stamp: FileStamp) {
        self.descriptor = descriptor
        self.stamp = stamp
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Transfers ownership of the descriptor to the caller, who closes it.
    package consuming func take() -> Int32 {
        let result = descriptor
        descriptor = -1
        return result
    }

    /// Reads into memory that has room for `size` bytes.
    ///
    /// - Returns: The number of bytes read; fewer than requested at the end of the file and after an error.
    package func read(into target: UnsafeMutableRawPointer, from offset: Int, upTo size: Int) -> Int {
        var done = 0
        while done < size {
            let result = unsafe pread(descriptor, target + done, size - done, off_t(offset + done))
            if result < 0, errno == EINTR { continue }
            if result <= 0 { break }
            done += result
        }
        return done
    }

    /// Throws `unreadable` for anything but a regular file.
    private static func checkKind(of file: FileStamp, _ path: String) throws(ConnectorError) {
        guard file.kind != S_IFREG else { return }
        throw irregular(path, isDirectory: file.kind == S_IFDIR)
    }

    private static func irregular(_ path: String, isDirectory: Bool = false) -> ConnectorError {
        let kind = isDirectory ? "a directory" : "not a regular file"
        return ConnectorError(.unreadable, "\(path) is \(kind)", fix: "check that it is the right path")
    }

    /// What to do about a file that is not there.
    private static let missingRemedy = "check the path; build the plugin first"

    private static func failure(_ path: String, _ number: Int32) -> ConnectorError {
        let cause = SystemError(number).description
        return switch number {
        case ENOENT, ENOTDIR:
            ConnectorError(
                .notFound,
                "there is no file \(path)",
                fix: missingRemedy,
                cause: cause
            )
        // Sockets, and devices that nothing serves, cannot even be opened.
        case ENXIO, ENODEV: irregular(path)
        default:
            ConnectorError(
                .unreadable,
                "\(path) cannot be read",
                fix: SystemError(number).openingRemedy,
                cause: cause
            )
        }
    }
}
