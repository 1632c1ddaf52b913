// This file is part of the connector-host project.
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

/// A file that marks a running command. The command removes it when it ends and leaves it behind when it is killed.
///
/// A process cannot observe its own end by `_exit` or `SIGKILL`, so the next command on the same configuration reports it. A file
/// lock distinguishes the mark of a running command from a stale one. Failures are ignored: the mark is only for diagnosis.
enum WorkMark {
    /// The path of this process's file, and its descriptor, which holds the lock.
    private static let current = Mutex<(path: String, descriptor: Int32)?>(nil)

    /// Creates the mark of this process, in place of an earlier one.
    ///
    /// - Parameter crashFile: The file for the command's crash note; nil to create no mark.
    static func begin(besides crashFile: String?) {
        guard let folder = folder(crashFile), (try? Directory.makePrivate(folder)) != nil,
            (try? Directory.checkPrivate(folder)) != nil
        else { return }
        let command = CommandLine.arguments.dropFirst().first { !$0.hasPrefix("-") } ?? ""
        let note: JSONValue = [
            "version": 1, "event": "silence", "command": .string(command.excerpt(of: 40)),
            "process": .integer(Int64(getpid())), "seconds": .integer(Int64(time(nil))),
        ]
        end()
        let path = "\(folder)/\(getpid())"
        // An existing file of that name is stale: it belongs to an earlier process with the same id.
        unsafe unlink(path)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return
        }
        try? OutputFile.write(note.utf8(), to: descriptor)
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

    /// Removes the stale marks of earlier commands.
    ///
    /// - Returns: The note of the newest one; nil if there is none, or if its command left a crash note.
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
