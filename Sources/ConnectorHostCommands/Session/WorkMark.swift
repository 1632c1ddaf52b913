// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The mark that a command is at work: a file that it removes at its end, and leaves behind where it has none.
///
/// Nothing in a process sees its end by `_exit` or `SIGKILL`, so the next command on the same configuration says it. A lock tells
/// the mark of a command that runs from one that was left behind.
enum WorkMark {
    /// The file of this process, and its descriptor, which holds the lock.
    private static let current = Mutex<(path: String, descriptor: Int32)?>(nil)

    /// Marks this process as at work on a configuration. Failing to do so is not an error: the mark only helps people.
    ///
    /// - Parameter crashFile: Where a crash of the command would leave its note; nil for nowhere.
    static func begin(besides crashFile: String?) {
        guard let folder = folder(crashFile), (try? Directory.makePrivate(folder)) != nil,
            (try? Directory.checkPrivate(folder)) != nil
        else { return }
        let command = CommandLine.arguments.dropFirst().first { !$0.hasPrefix("-") } ?? ""
        let note: JSONValue = [
            "version": 1, "event": "silence", "command": .string(command.excerpt(of: 40)),
            "process": .integer(Int64(getpid())), "seconds": .integer(Int64(time(nil))),
        ]
        let path = "\(folder)/\(getpid())"
        // A file of that name is another process's, which had the number before and was not swept away yet.
        unsafe unlink(path)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return
        }
        try? OutputFile.write(note.utf8(), to: descriptor)
        end()
        current.withLock { $0 = (path, descriptor) }
    }

    /// Removes the mark of this process.
    static func end() {
        guard
            let mark = current.withLock({ mark in
                defer { mark = nil }
                return mark
            })
        else { return }
        unsafe unlink(mark.path)
        close(mark.descriptor)
    }

    /// Removes the marks that earlier commands left behind.
    ///
    /// - Returns: The note of the youngest; nil if there is none, or the command left a note of its own.
    static func takeAbandoned(besides crashFile: String?) -> CrashNote? {
        guard let crashFile, let folder = folder(crashFile) else { return nil }
        let crashed = CrashNote.note(in: crashFile)?.process
        var notes: [CrashNote] = []
        for entry in (try? Directory.entries(of: folder)) ?? [] where Int32(entry.name) != nil {
            let path = "\(folder)/\(entry.name)"
            let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            if let note = CrashNote.note(in: path), note.process != crashed { notes.append(note) }
            unsafe unlink(path)
        }
        return notes.max { $0.time < $1.time }
    }

    private static func folder(_ crashFile: String?) -> String? {
        crashFile.map { "\($0.hasSuffix(".crash") ? String($0.dropLast(6)) : $0).work" }
    }
}
