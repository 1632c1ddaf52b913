// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes files and descriptors until everything is written.
package enum OutputFile {
    /// The number of files replaced so far, so that two threads use different temporary names.
    private static let count = Atomic<UInt64>(0)

    /// Replaces a file by renaming another one, so that a concurrent reader sees either the old file or the new one.
    ///
    /// By default, others may read the file, as far as the process's umask lets them.
    ///
    /// - Parameter mode: The file's permissions, before the umask.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        mode: UInt32 = 0o644
    ) throws(SystemError) {
        let temporary = "\(path).\(getpid())-\(count.add(1, ordering: .relaxed).newValue)"
        // An earlier process with the same id may have left one: in a container, the first process always has the same id.
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard file >= 0 else { throw SystemError() }
        do throws(SystemError) {
            defer { close(file) }
            try write(bytes, to: file)
            guard fsync(file) == 0, unsafe rename(temporary, path) == 0 else { throw SystemError() }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }

    /// Writes all bytes of an array.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        let result = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try unsafe write(bytes, to: descriptor) }
        }
        try result.get()
    }

    /// Writes all bytes, even if write(2) accepts only a part at a time.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            #if canImport(Glibc)
                let result = unsafe Glibc.write(descriptor, base + done, bytes.count - done)
            #else
                let result = unsafe Darwin.write(descriptor, base + done, bytes.count - done)
            #endif
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw SystemError() }
            done += result
        }
    }
}
