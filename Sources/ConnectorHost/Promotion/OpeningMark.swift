// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file that marks that this process is opening a plugin. If the process dies, the file stays and its lock is
/// released.
///
/// The file is locked and synchronised before it gets its final name, so no process ever sees the mark of a living
/// process unlocked.
final class OpeningMark: Sendable {
    /// The ending of the names of marks.
    static let suffix = ".mark"

    private let path: String
    private let descriptor: Mutex<Int32?>

    /// Makes the mark, and returns once it is on stable storage. Blocks.
    ///
    /// - Parameters:
    ///   - directory: A private directory.
    ///   - digest: The digest of the plugin's image.
    ///   - note: The content, for whoever finds the mark abandoned.
    init(in directory: String, _ digest: String, note: JSONValue) throws(SystemError) {
        // Not by the process's id: hosts in two containers may have the same one, and the same directory.
        path = "\(directory)/\(digest).\(RandomIdentifier.uuid())\(Self.suffix)"
        let temporary = "\(path).new"
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemError() }
        do throws(SystemError) {
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else { throw SystemError() }
            try OutputFile.write(note.utf8(), to: file)
            guard fsync(file) == 0, unsafe rename(temporary, path) == 0 else { throw SystemError() }
        } catch {
            unsafe unlink(temporary)
            close(file)
            throw error
        }
        descriptor = Mutex(file)
        try Directory.synchronize(directory)
    }

    deinit { clear() }

    /// Removes the mark; further calls do nothing.
    func clear() {
        guard let file = descriptor.withLock({ $0.take() }) else { return }
        unsafe unlink(path)
        // Without this, a power failure could bring the mark back, and cast suspicion on the plugin.
        try? Directory.synchronize(path.parentPath)
        close(file)
    }

    /// Removes an abandoned mark and returns its note: null if the note is damaged, nil if the file cannot be opened or
    /// belongs to a living process.
    static func take(_ path: String) -> JSONValue? {
        let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return take(file, path)
    }

    /// Removes an abandoned mark, already open, and returns its note as ``take(_:)`` does.
    static func take(_ file: Int32, _ path: String) -> JSONValue? {
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // Since the file was opened here, its process may have removed and unlocked it, or another process may have
        // taken it.
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_nlink > 0 else { return nil }
        defer { unsafe unlink(path) }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, unsafe read(file, buffer.baseAddress, buffer.count))
        }
        return (try? JSONValue(parsing: bytes)) ?? .null
    }
}
