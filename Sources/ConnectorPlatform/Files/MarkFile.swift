// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A file that marks that this process is working on something. If the process dies, the file stays and its lock is released.
///
/// The file is complete and locked before it gets its final name, so no process ever sees the mark of a living process unlocked.
package final class MarkFile: Sendable {
    /// The ending of the names of marks.
    package static let suffix = ".mark"
    /// The ending of the name of a mark while it is made.
    package static let draftSuffix = "\(suffix).new"
    /// The most that a note has, in bytes.
    private static let sizeLimit = 1 << 16

    /// The file's path.
    package let path: String
    private let isDurable: Bool
    private let descriptor: Mutex<Int32?>

    /// Makes the mark. Blocks.
    ///
    /// - Parameters:
    ///   - directory: A private directory.
    ///   - prefix: How the file's name begins; the rest is random.
    ///   - note: The content, for whoever finds the mark abandoned.
    ///   - isDurable: Whether to return only once the mark is on stable storage.
    package init(
        in directory: String,
        prefix: String = "",
        note: JSONValue,
        isDurable: Bool = false
    ) throws(SystemError) {
        // Not by the process's id: processes in two containers may have the same one, and the same directory.
        let name = "\(directory)/\(prefix)\(RandomIdentifier.uuid())"
        let (path, draft) = (name + Self.suffix, name + Self.draftSuffix)
        guard let file = try LockedFile.create(draft) else { throw SystemError(ENOENT) }
        do throws(SystemError) {
            try OutputFile.write(note.utf8(), to: file)
            guard !isDurable || fsync(file) == 0, unsafe rename(draft, path) == 0 else { throw SystemError() }
        } catch {
            unsafe unlink(draft)
            close(file)
            throw error
        }
        self.path = path
        self.isDurable = isDurable
        descriptor = Mutex(file)
        if isDurable { try Directory.synchronize(directory) }
    }

    deinit { clear() }

    /// Removes the mark; further calls do nothing.
    package func clear() {
        guard let file = descriptor.withLock({ $0.take() }) else { return }
        unsafe unlink(path)
        // Without this, a power failure could bring the mark back, and cast suspicion on what this process worked on.
        if isDurable { try? Directory.synchronize(path.parentPath) }
        close(file)
    }

    /// Removes an abandoned mark, and returns its note: null if the note is damaged, nil if the file cannot be opened or
    /// belongs to a living process.
    package static func take(_ path: String) -> JSONValue? {
        guard let file = LockedFile.openAbandoned(path) else { return nil }
        defer {
            unsafe unlink(path)
            close(file)
        }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: sizeLimit) { buffer, count in
            count = max(0, unsafe read(file, buffer.baseAddress, buffer.count))
        }
        return (try? JSONValue(parsing: bytes)) ?? .null
    }
}
