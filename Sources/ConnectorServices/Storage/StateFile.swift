// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A small file that is written atomically and readable only by this user.
package struct StateFile: Sendable {
    /// The file's directory, created by the first write.
    package let directory: String
    /// The file's name, without a slash.
    package let name: String
    /// The directory of all applications, which must be equally private; nil if that is the same.
    package var enclosing: String?

    /// The file's path.
    package var path: String { "\(directory)/\(name)" }

    /// Larger than any storage/1 file: 1 MiB of keys and values, with 6 bytes of overhead for entries of at least 1
    /// byte.
    private static let sizeLimit = 8 << 20

    /// Reads the whole file and the stamp of its content; nil if it does not exist.
    ///
    /// - Throws: `EINVAL` for anything but a regular file, such as a FIFO, which would block.
    package func content() throws(SystemError) -> (bytes: [UInt8], stamp: FileStamp)? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw SystemError()
        }
        defer { close(file) }
        guard let stamp = FileStamp(descriptor: file) else { throw SystemError() }
        guard stamp.kind == UInt32(S_IFREG) else { throw SystemError(EINVAL) }
        var bytes: [UInt8] = []
        while true {
            let count = unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
                let count = unsafe read(file, buffer.baseAddress, buffer.count)
                if count > 0 { unsafe bytes.append(contentsOf: buffer[..<count]) }
                return count
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError() }
            guard bytes.count <= Self.sizeLimit else { throw SystemError(EFBIG) }
            if count == 0 { return (bytes, stamp) }
        }
    }

    /// Replaces the content atomically, and returns once it is on disk.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try Directory.makePrivate(directory)
        let (temporary, file) = try makeTemporary()
        do throws(SystemError) {
            defer { close(file) }
            try OutputFile.write(bytes, to: file)
            guard fsync(file) == 0 else { throw SystemError() }
            guard unsafe rename(temporary, path) == 0 else { throw SystemError() }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        // The rename is durable once the directory is synced.
        let folder = try openDirectory()
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw SystemError() }
    }

    /// Renames a corrupt file out of the way; the new name says why.
    package func setAside() throws(SystemError) {
        guard unsafe rename(path, path + ".corrupt") == 0 else { throw SystemError() }
    }
}
