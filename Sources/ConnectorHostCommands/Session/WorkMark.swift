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
    /// The mark of this process.
    private static let current = Mutex<MarkFile?>(nil)

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
                try Directory.makePrivate(folder)
                try Directory.checkPrivate(folder)
                let mark = try MarkFile(in: folder, note: .object(note))
                current.withLock { $0 = mark }
                return
            } catch {
                // Another command may just have removed the folder, which its own mark left empty, or taken the file for abandoned
                // before it was locked.
                guard error.number == ENOENT else { return }
            }
        }
    }

    /// Removes the mark of this process, and the folder after the last mark.
    static func end() {
        guard let mark = current.withLock({ $0.take() }) else { return }
        mark.clear()
        // Fails while it has the marks of others.
        unsafe rmdir(mark.path.parentPath)
    }

    /// The directories in which the commands that run on a configuration may serve their APIs.
    ///
    /// - Parameter crashFile: The file for the commands' crash notes; nil for none.
    static func directories(besides crashFile: String?) -> [String] {
        guard let folder = folder(crashFile), (try? Directory.checkPrivate(folder)) != nil else { return [] }
        let found = ((try? Directory.entries(of: folder)) ?? []).compactMap { entry -> String? in
            let path = "\(folder)/\(entry.name)"
            guard isMark(entry.name), LockedFile.isLocked(path) else { return nil }
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
            guard isMark(entry.name) || isDraft(entry.name),
                let note = MarkFile.take("\(folder)/\(entry.name)").flatMap(CrashNote.init)
            else { continue }
            // The id alone would not do: in a container, every command may have the same one.
            if let crash, crash.process == note.process, crash.time >= note.time { continue }
            notes.append(note)
        }
        return notes.max { $0.time < $1.time }
    }

    /// Whether a file is a mark; earlier versions named it by the id of the process.
    private static func isMark(_ name: String) -> Bool { name.hasSuffix(MarkFile.suffix) || Int32(name) != nil }

    /// Whether a file is a mark that its command has not completed; in earlier versions, its name began with a dot.
    private static func isDraft(_ name: String) -> Bool {
        name.hasSuffix(MarkFile.draftSuffix) || name.hasPrefix(".") && Int32(name.dropFirst()) != nil
    }

    private static func folder(_ crashFile: String?) -> String? {
        crashFile.map { "\($0.hasSuffix(".crash") ? String($0.dropLast(6)) : $0).work" }
    }
}
