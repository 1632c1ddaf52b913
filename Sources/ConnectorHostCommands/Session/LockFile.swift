// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Writes locks.
enum LockFile {
    /// Replaces a lock, so that a host that starts meanwhile reads the old one or the new one.
    static func write(_ lock: PluginLock) throws(ConnectorError) {
        let temporary = "\(lock.file).\(getpid())"
        do throws(SystemError) {
            let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard file >= 0 else { throw SystemError() }
            do throws(SystemError) {
                defer { close(file) }
                try OutputFile.write(Array(lock.text.utf8), to: file)
                guard fsync(file) == 0, unsafe rename(temporary, lock.file) == 0 else { throw SystemError() }
            } catch {
                unsafe unlink(temporary)
                throw error
            }
        } catch {
            throw ConnectorError(
                .failed,
                "\(lock.file) cannot be written",
                fix: "check the permissions of its directory",
                cause: error.description
            )
        }
    }
}
