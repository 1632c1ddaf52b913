// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A small file that is there whole or not at all, and only for this user.
package struct StateFile: Sendable {
    /// Made when something is written.
    package let directory: String
    /// Without slash.
    package let name: String

    /// Where it is.
    package var path: String { "\(directory)/\(name)" }

    /// More than any file of storage/1 has: 1 MiB of keys and values, of which the shortest have 1 byte and 6 around them.
    private static let sizeLimit = 8 << 20

    /// Everything in it; nil if it is not there.
    package func read() throws(SystemError) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw SystemError()
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        while true {
            let count = unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
                #if canImport(Glibc)
                    let count = unsafe Glibc.read(file, buffer.baseAddress, buffer.count)
                #else
                    let count = unsafe Darwin.read(file, buffer.baseAddress, buffer.count)
                #endif
                if count > 0 { unsafe bytes.append(contentsOf: buffer[..<count]) }
                return count
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError() }
            guard bytes.count <= Self.sizeLimit else { throw SystemError(EFBIG) }
            if count == 0 { return bytes }
        }
    }

    /// Replaces it, and returns when that is on the disk.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try makeDirectory()
        let (temporary, file) = try makeTemporary()
        do throws(SystemError) {
            defer { close(file) }
            try Self.write(bytes, to: file)
            guard fsync(file) == 0 else { throw SystemError() }
            guard unsafe rename(temporary, path) == 0 else { throw SystemError() }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        // The new name is on the disk once its directory is.
        let folder = unsafe open(directory, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemError() }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw SystemError() }
    }

    /// Puts it out of the way, under a name that tells why.
    package func setAside() throws(SystemError) {
        guard unsafe rename(path, path + ".corrupt") == 0 else { throw SystemError() }
    }

    private func makeDirectory() throws(SystemError) {
        if unsafe mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw SystemError() }
        var path = directory.hasPrefix("/") ? "" : "."
        for part in directory.split(separator: "/") {
            path += "/" + part
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError() }
        }
    }

    private static func write(_ bytes: [UInt8], to file: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                #if canImport(Glibc)
                    unsafe Glibc.write(file, buffer.baseAddress, buffer.count)
                #else
                    unsafe Darwin.write(file, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError() }
            rest = rest.dropFirst(count)
        }
    }
}
