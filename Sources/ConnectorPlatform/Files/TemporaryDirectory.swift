// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory for temporary files that only this user can enter, in use until the value is released.
///
/// A lock on a file in it, which the system releases when the process ends, tells it from one that a killed process left behind.
package final class TemporaryDirectory: Sendable {
    /// The directory's path.
    package let path: String
    /// The open file whose lock this process holds.
    private let lock: FileLock

    /// The name of the file with the lock. A directory without such a file is never taken for a leftover.
    private static let lockName = ".connector-host.lock"

    /// Makes a directory, and removes those of the same kind that killed processes left behind.
    ///
    /// - Parameter name: How its name begins.
    package init(_ name: String) throws(SystemError) {
        Self.removeLeftovers(name)
        while true {
            let path = try Self.make(name, below: Self.parent)
            let file = "\(path)/\(Self.lockName)"
            do throws(SystemError) {
                // Without file locking, leftovers are not removed; everything else works.
                guard let lock = try LockedFile.create(file, requiresLock: false) else { continue }
                (self.path, self.lock) = (path, FileLock(lock))
                return
            } catch {
                Self.remove(path)
                throw error
            }
        }
    }

    /// Removes the directory with everything in it.
    package func remove() { Self.remove(path) }

    /// Removes any directory with everything in it, and follows no link; what cannot be removed stays.
    package static func remove(_ path: String) { remove(Array(path.utf8CString)) }

    /// Removes this user's directories of a kind whose processes have ended.
    private static func removeLeftovers(_ name: String) {
        for entry in (try? Directory.entries(of: parent)) ?? [] where entry.name.starts(ascii: "\(name)-") {
            let path = "\(parent)/\(entry.name)"
            guard (try? Directory.checkPrivate(path)) != nil else { continue }
            guard let lock = LockedFile.openAbandoned("\(path)/\(lockName)") else { continue }
            remove(path)
            close(lock)
        }
    }

    /// Where they are: `$TMPDIR` if it is absolute and UTF-8, otherwise `/tmp`.
    package static var parent: String {
        guard let value = unsafe getenv(variable), let path = unsafe String(validatingCString: value),
            path.starts(ascii: "/")
        else { return "/tmp" }
        return path
    }

    /// The environment variable that names where temporary directories are.
    package static let variable = "TMPDIR"

    /// Makes a directory that only this user can enter, and that the caller removes.
    ///
    /// - Parameters:
    ///   - name: How its name begins.
    ///   - parent: An existing directory.
    /// - Returns: Its path.
    package static func make(_ name: String, below parent: String) throws(SystemError) -> String {
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw SystemError() }
        return unsafe String(cString: made)
    }

    /// Removes a directory with everything in it, and follows no link; what cannot be removed stays.
    ///
    /// - Parameter path: The bytes of its path, with a zero at the end, because a plugin may give its files names that are not UTF-8.
    private static func remove(_ path: [CChar]) {
        for entry in (try? Directory.entries(of: path)) ?? [] {
            let name = entry.bytes ?? Array(entry.name.utf8CString)
            let child = Array(path.dropLast()) + [CChar(UInt8(ascii: "/"))] + name
            if unsafe unlink(child) != 0, entry.isDirectory != false, isDirectory(child) { remove(child) }
        }
        unsafe rmdir(path)
    }

    /// Whether the path is a directory itself, and not a link to one. If so, changes its mode so that this user may empty it.
    private static func isDirectory(_ path: [CChar]) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        fchmod(descriptor, 0o700)
        return true
    }
}
