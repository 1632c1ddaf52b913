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
/// lock distinguishes the mark of a running command from a stale one. By the mark other commands also find a host that listens where
/// its file no longer says. Failures are ignored.
enum WorkMark {
    /// The folder and the path of this process's file, and its descriptor, which holds the lock.
    private static let current = Mutex<(folder: String, path: String, descriptor: Int32)?>(nil)

    /// Creates the mark of this process, in place of an earlier one.
    ///
    /// - Parameters:
    ///   - crashFile: The file for the command's crash note; nil to create no mark.
    ///   - directory: The directory in which the command may serve its API, by which ``directories(besides:)`` finds it.
    static func begin(besides crashFile: String?, listeningIn directory: String? = nil) {
        guard let folder = folder(crashFile) else { return }
        let command = ProcessArguments.all.dropFirst().first { !$0.hasPrefix("-") } ?? ""
        var note: JSONObject = [
            "version": 1, "event": "silence", "command": .string(command.excerpt(of: 40)),
            "process": .integer(Int64(getpid())), "seconds": .integer(Int64(time(nil))),
        ]
        note["directory"] = directory.map(JSONValue.string)
        end()
        for _ in 0..<10 {
            do throws(SystemError) {
                return try make(JSONValue.object(note).utf8(), in: folder)
            } catch {
                // Another command may just have removed the folder, which its own mark left empty.
                guard error.number == ENOENT else { return }
            }
        }
    }

    /// Creates the mark under another name first, so that no process sees it before it is complete and locked.
    private static func make(_ note: [UInt8], in folder: String) throws(SystemError) {
        try Directory.makePrivate(folder)
        try Directory.checkPrivate(folder)
        let (path, draft) = ("\(folder)/\(getpid())", "\(folder)/.\(getpid())")
        // An existing file of either name is stale: it belongs to an earlier process with the same id.
        unsafe unlink(draft)
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError() }
        let isLocked = flock(descriptor, LOCK_EX) == 0
        try? OutputFile.write(note, to: descriptor)
        guard isLocked, unsafe rename(draft, path) == 0 else {
            let reason = SystemError()
            unsafe unlink(draft)
            close(descriptor)
            throw reason
        }
        current.withLock { $0 = (folder, path, descriptor) }
    }

    /// Removes the mark of this process, and the folder after the last mark.
    static func end() {
        guard
            let mark = current.withLock({ mark in
                defer { mark = nil }
                return mark
            })
        else { return }
        unsafe unlink(mark.path)
        close(mark.descriptor)
        // Fails while it has the marks of others.
        unsafe rmdir(mark.folder)
    }

    /// The directories in which the commands that run on a configuration may serve their APIs.
    ///
    /// - Parameter crashFile: The file for the commands' crash notes; nil for none.
    static func directories(besides crashFile: String?) -> [String] {
        guard let folder = folder(crashFile), (try? Directory.checkPrivate(folder)) != nil else { return [] }
        let found = ((try? Directory.entries(of: folder)) ?? []).compactMap { entry -> String? in
            let path = "\(folder)/\(entry.name)"
            let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            guard Int32(entry.name) != nil, flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
            let text = try? SystemFile.bytes(of: path, limit: 1 << 16)
            return text.flatMap { try? JSONValue(parsing: $0) }?["directory"]?.string
        }
        return Set(found).sorted()
    }

    /// Removes the stale marks of earlier commands.
    ///
    /// - Returns: The note of the newest one; nil if there is none, or if its command left a crash note.
    static func takeAbandoned(besides crashFile: String?) -> CrashNote? {
        guard let crashFile, let folder = folder(crashFile) else { return nil }
        let crash = CrashNote.note(in: crashFile)
        var notes: [CrashNote] = []
        for entry in (try? Directory.entries(of: folder)) ?? [] {
            // A name with a dot belongs to a command that ended while it made its mark.
            let number = entry.name.hasPrefix(".") ? String(entry.name.dropFirst()) : entry.name
            guard Int32(number) != nil else { continue }
            let path = "\(folder)/\(entry.name)"
            let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            defer { unsafe unlink(path) }
            guard let note = CrashNote.note(in: path) else { continue }
            // The id alone would not do: in a container, every command may have the same one.
            if let crash, crash.process == note.process, crash.time >= note.time { continue }
            notes.append(note)
        }
        return notes.max { $0.time < $1.time }
    }

    private static func folder(_ crashFile: String?) -> String? {
        crashFile.map { "\($0.hasSuffix(".crash") ? String($0.dropLast(6)) : $0).work" }
    }
}
