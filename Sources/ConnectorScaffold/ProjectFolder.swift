// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The folder that a project is in.
struct ProjectFolder {
    /// The path of the folder.
    let path: String

    /// The most bytes to read from a file.
    private static let limit = 4 << 20

    /// Creates a value for a folder, which need not exist.
    ///
    /// - Throws: `invalid` for an empty path, because paths below it would start at the root.
    init(path: String) throws(ConnectorError) {
        guard !path.isEmpty else { throw ConnectorError(.invalid, "the path of the project's folder is empty") }
        self.path = path
    }

    /// Creates the folder, and its missing parents.
    ///
    /// - Returns: False if there is anything at its path already.
    func make() throws(ConnectorError) -> Bool {
        if unsafe mkdir(path, 0o755) == 0 { return true }
        let reason = SystemError()
        guard reason.number != EEXIST else { return false }
        do throws(SystemError) {
            guard reason.number == ENOENT else { throw reason }
            try Directory.make(path, mode: 0o755)
            return true
        } catch {
            throw unchangeable("\(path) cannot be written", error)
        }
    }

    /// The content of a file; nil if there is none.
    ///
    /// - Throws: `unreadable`, also for a symbolic link, a directory, or a file of more than 4 MiB.
    func read(_ file: String) throws(ConnectorError) -> String? {
        let path = full(file)
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw unreadable(path, SystemError().description)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe pread(descriptor, &buffer, buffer.count, off_t(bytes.count))
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw unreadable(path, SystemError().description)
            }
            bytes += buffer.prefix(count)
            guard bytes.count <= Self.limit else { throw unreadable(path, "it has more than 4 MiB") }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes a file under a temporary name and renames it, so that no reader sees half of it. Creates missing folders.
    func write(_ file: ProjectFile) throws(ConnectorError) {
        let path = full(file.path)
        do throws(SystemError) {
            try Directory.make(path.parentPath, mode: 0o755)
            try OutputFile.replace(path, with: Array(file.text.utf8))
        } catch {
            throw unchangeable("\(path) cannot be written", error)
        }
    }

    /// Removes a file; a missing file is no error.
    func remove(_ file: String) throws(ConnectorError) {
        let path = full(file)
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        throw unchangeable("\(path) cannot be removed", SystemError())
    }

    /// Removes the folder with everything in it.
    func removeAll() { TemporaryDirectory.remove(path) }

    private func full(_ file: String) -> String { "\(path)/\(file)" }

    private func unchangeable(_ message: String, _ cause: SystemError) -> ConnectorError {
        let fix = cause.diskRemedy ?? "check that its folder exists, and its permissions"
        return ConnectorError(.failed, message, fix: fix, cause: cause.description)
    }

    private func unreadable(_ path: String, _ cause: String) -> ConnectorError {
        ConnectorError(
            .unreadable,
            "\(path) cannot be read",
            fix: "check what it is, and its permissions",
            cause: cause
        )
    }
}
