// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes files and descriptors until everything is written.
package enum OutputFile {
    /// Replaces a file by renaming another one, so that a concurrent reader sees either the old file or the new one.
    ///
    /// A symbolic link at the path is replaced, too, and not followed. A device, a pipe or a socket stays.
    ///
    /// - Parameter mode: The file's permissions, before the umask. By default, it has those of the old file, and its owner; if
    ///   there is none, others may read the new one, as far as the umask lets them.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        mode: UInt32? = nil
    ) throws(SystemError) {
        let found = FileStamp(itself: path)
        if let found, found.kind != S_IFREG, found.kind != S_IFLNK, found.kind != S_IFDIR { throw SystemError(EINVAL) }
        let model = mode == nil ? found.flatMap { $0.kind == S_IFREG ? $0 : nil } : nil
        // Not by the process's id: in two containers, processes that write the file may have the same one.
        let temporary = "\(path).\(UInt64.random(in: 0 ... .max).hexadecimal()).new"
        let first = mode ?? (model == nil ? 0o644 : 0o600)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(first))
        guard file >= 0 else { throw SystemError() }
        do throws(SystemError) {
            defer { close(file) }
            try write(bytes, to: file)
            if let model { try copyAccess(of: model, to: file) }
            guard fsync(file) == 0, unsafe rename(temporary, path) == 0 else { throw SystemError() }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }

    /// Gives an open file the permissions of another one, and its owner and group as far as this user may.
    package static func copyAccess(of model: FileStamp, to descriptor: Int32) throws(SystemError) {
        // Only root may give files away, but a group may be any of this user's.
        _ = fchown(descriptor, .max, model.group)
        _ = fchown(descriptor, model.owner, .max)
        guard fchmod(descriptor, mode_t(model.mode & 0o777)) == 0 else { throw SystemError() }
    }

    /// Writes all bytes of an array.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        let result = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try unsafe write(bytes, to: descriptor) }
        }
        try result.get()
    }

    /// Writes all bytes, even if write(2) accepts only a part at a time, or nothing for now.
    ///
    /// Another process that shares a pipe or terminal may have made it non-blocking; writing to it blocks all the same.
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
            if result < 0, errno == EAGAIN {
                var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&target, 1, -1)
                continue
            }
            guard result > 0 else { throw SystemError() }
            done += result
        }
    }
}
