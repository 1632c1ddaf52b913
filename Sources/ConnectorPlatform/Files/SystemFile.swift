// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads small files, such as those of `/proc`.
package enum SystemFile {
    /// The first bytes of a file, as many as one read(2) returns.
    package static func bytes(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
        // Opening a FIFO would otherwise wait for a writer.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError() }
        defer { close(descriptor) }
        return unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, unsafe read(descriptor, buffer.baseAddress, buffer.count))
        }
    }
}
