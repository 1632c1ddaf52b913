// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Makes and removes directories for temporary files.
package enum TemporaryDirectory {
    /// Where they are: `$TMPDIR` if it is absolute, otherwise `/tmp`.
    package static var parent: String {
        guard let value = unsafe getenv("TMPDIR") else { return "/tmp" }
        let path = unsafe String(cString: value)
        return path.hasPrefix("/") ? path : "/tmp"
    }

    /// Makes a directory that only this user can enter, and that the caller removes.
    ///
    /// - Parameters:
    ///   - name: How its name begins.
    ///   - parent: An existing directory; nil for ``parent``.
    /// - Returns: Its path.
    package static func make(_ name: String, below parent: String? = nil) throws(SystemError) -> String {
        var template = Array("\(parent ?? Self.parent)/\(name)-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw SystemError() }
        return unsafe String(cString: made)
    }

    /// Removes a directory with everything in it, and follows no link; what cannot be removed stays.
    package static func remove(_ path: String) {
        for entry in (try? Directory.entries(of: path)) ?? [] {
            let child = "\(path)/\(entry.name)"
            if unsafe unlink(child) != 0, entry.isDirectory != false, isDirectory(child) { remove(child) }
        }
        unsafe rmdir(path)
    }

    /// Whether the path is a directory itself, and not a link to one. If so, changes its mode so that this user may empty it.
    private static func isDirectory(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        fchmod(descriptor, 0o700)
        return true
    }
}
