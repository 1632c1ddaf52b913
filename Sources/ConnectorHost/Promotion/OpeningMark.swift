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

/// A file that says that this process is opening a plugin. If the process dies, the file stays, and its lock is free.
///
/// The file is locked and synchronised before it gets its name, so no process ever sees one of a living process without a lock.
final class OpeningMark: Sendable {
    /// How the names of marks end.
    static let suffix = ".mark"
    private static let last = Atomic<UInt64>(0)

    private let path: String
    private let descriptor: Mutex<Int32?>

    /// Makes the mark, and returns once it is on stable storage. Blocks.
    ///
    /// - Parameters:
    ///   - directory: A private directory.
    ///   - digest: The plugin's.
    ///   - note: What to say if it is found abandoned.
    init(in directory: String, _ digest: String, note: JSONValue) throws(SystemError) {
        let number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
        path = "\(directory)/\(digest).\(getpid()).\(number)\(Self.suffix)"
        let temporary = "\(path).new"
        unsafe unlink(temporary)
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
        // Without this, a loss of power could bring the mark back, and with it a suspicion.
        try? Directory.synchronize(path.parentPath)
        close(file)
    }

    /// Takes an abandoned mark; nil if the file is not a mark, or belongs to a living process.
    static func take(_ path: String) -> JSONValue? {
        let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return take(file, path)
    }

    /// Takes an abandoned mark that is open; nil as in ``take(_:)``.
    static func take(_ file: Int32, _ path: String) -> JSONValue? {
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // Its process may have removed and unlocked it, or another one may have taken it, since it was opened here.
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_nlink > 0 else { return nil }
        defer { unsafe unlink(path) }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, unsafe read(file, buffer.baseAddress, buffer.count))
        }
        return (try? JSONValue(parsing: bytes)) ?? .null
    }
}
