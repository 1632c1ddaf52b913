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

    /// The most bytes of a file that is compared.
    private static let limit = 4 << 20

    /// A folder, which need not exist.
    ///
    /// - Throws: `invalid` for an empty path, below which every path would be one of the root.
    init(path: String) throws(ConnectorError) {
        guard !path.isEmpty else { throw ConnectorError(.invalid, "the path of the project's folder is empty") }
        self.path = path
    }

    /// Whether there is anything at a path below the folder; at the folder itself without one.
    func has(_ file: String? = nil) -> Bool {
        var status = stat()
        return unsafe lstat(full(file), &status) == 0
    }

    /// The content of a file; nil if there is none.
    ///
    /// - Throws: `unreadable`, also for what is not a file or has over four megabytes.
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

    /// Writes a file beside and renames it, so that no reader sees half of one; makes the folders that it is in.
    func write(_ file: ProjectFile) throws(ConnectorError) {
        let path = full(file.path)
        do throws(SystemError) {
            try Directory.make(path.parentPath, mode: 0o755)
            try OutputFile.replace(path, with: Array(file.text.utf8))
        } catch {
            throw ConnectorError(
                .failed,
                "\(path) cannot be written",
                fix: "check the permissions of its folder",
                cause: error.description
            )
        }
    }

    /// Removes a file; no error if there is none.
    func remove(_ file: String) { unsafe unlink(full(file)) }

    private func full(_ file: String?) -> String { file.map { "\(path)/\($0)" } ?? path }

    private func unreadable(_ path: String, _ cause: String) -> ConnectorError {
        ConnectorError(
            .unreadable,
            "\(path) cannot be read",
            fix: "check what it is, and its permissions",
            cause: cause
        )
    }
}
