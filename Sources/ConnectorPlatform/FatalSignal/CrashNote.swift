// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal
public import ConnectorBase

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A note about how a process crashed: by which signal, where, and in which plugin.
///
/// A plugin shares the process, so a fault in its code ends the process. After ``install(file:)``, the process reports
/// whose code that was: one line on standard error, and a note in a file, which the next process reads with
/// ``take(from:)``. A fault in the application's code leaves a note, too.
/// `CrashClient.reportLastCrash(in:)` takes it, and sends it to the vendor of crash reports.
///
/// ```swift
/// let file = "/var/lib/shop/connector.crash"
/// if let crash = CrashNote.take(from: file) { logger.error("\(crash)") }
/// CrashNote.install(file: file)
/// ```
///
/// The handlers search the stack of the thread that received the signal for addresses in plugins' images. The innermost
/// one names the plugin, with every gate that uses its image. This costs calls into plugins nothing. Handlers that were
/// installed before, such as those of Swift's backtracer or a sanitizer, run next; handlers that you install later must
/// call the previous ones as well.
///
/// A foreign library serves the application and other plugins, too, so its code names a gate only during a call of that gate, and
/// on a thread of the library's own if it was loaded for that gate. In all other cases, whoever called the library is named.
///
/// Not detected: `_exit` outside a plugin's own image, `SIGKILL`, a stack overflow on a thread that the host did not start, and
/// images on systems other than Linux. A plugin that destroyed its stack may be misnamed, or not named at all.
public struct CrashNote: Sendable, Hashable, CustomStringConvertible {
    /// The signal, such as `SIGSEGV`; `exit`, `quick_exit` or `_exit` if the plugin called that; `silence` for a
    /// command that ended without a report.
    public var event: String
    /// The plugin's id and version; nil if none was on the stack.
    public var plugin: String?
    /// The paths of the gates that used the plugin's image, joined by commas; nil if there was none yet.
    public var gates: String?
    /// The plugin's file; nil if one of its constructors was running.
    public var path: String?
    /// The place in the file's code, in hexadecimal, for `addr2line`.
    public var offset: String?
    /// The name of the function at that place, as in the symbol table; nil if the file does not have it.
    public var function: String?
    /// The place in the source, as `file:line`; nil if the file was built without `-g`.
    public var source: String?
    /// Whether that code itself was running, rather than code that it had called.
    public var isRunning: Bool
    /// When the process ended.
    public var time: Timestamp
    /// The address that a memory access failed at, in hexadecimal; nil for `exit`.
    public var address: String?
    /// The id of the process that ended; nil if the note does not contain it.
    public var process: Int64?
    /// The command that ended without a report; nil for every other event.
    public var command: String?
    /// The system's id of the thread; nil for `exit`.
    public var thread: Int64?
    /// The call stack, outermost call last; empty for `exit`, and on systems other than Linux.
    ///
    /// Unwound by frame pointers. Beyond code that keeps none, every stack word that looks like a return address is
    /// listed, which may include calls that have already returned.
    public var frames: [Frame]

    /// One call.
    public struct Frame: Sendable, Hashable {
        /// The file of the code; empty for the program itself, `?` for code that belongs to no file.
        public var file: String
        /// The place in the file's image, in hexadecimal, for `addr2line`.
        public var offset: String
        /// The name of the function at that place, as in the symbol table; nil if the file does not have it.
        public var function: String?
        /// The place in the source, as `file:line`; nil if the file was built without `-g`.
        public var source: String?
    }

    /// Whether a function of the C library ended the process.
    private var isExit: Bool { ["exit", "quick_exit", "_exit"].contains(event) }

    /// One sentence for a person.
    public var description: String {
        if event == "silence" {
            return "the command \(command ?? "") (process \(process ?? 0)) ended without a report: "
                + "a plugin called _exit or hid a crash, or it was killed"
        }
        guard let plugin else { return isExit ? "the process called \(event)" : "the process ended with \(event)" }
        let verb = isExit ? "called \(event) in" : "ended with \(event) in"
        guard let path else { return "the process \(verb) a constructor of the plugin \(plugin)" }
        let owner = gates.map { " of \($0)" } ?? ""
        let place = isRunning || isExit ? "" : "code called by "
        let code = [function, source].compactMap(\.self).joined(separator: ", ")
        return "the process \(verb) \(place)the plugin \(plugin)\(owner), at \(path)+\(offset ?? "0x0")"
            + (code.isEmpty ? "" : " (\(code))")
    }

    /// Installs handlers that leave a note for a fatal signal, and for a plugin that calls `exit`.
    ///
    /// Call it once, early, and before the application installs handlers of fatal signals. A process that a plugin ends
    /// by `exit(0)` ends with the status 70.
    ///
    /// - Parameter file: The file that receives the note, besides standard error. This call creates its directories and
    ///   reserves its blocks, so that a full disk loses no note; a process that exits normally leaves no file.
    /// - Returns: Whether the handlers are installed; false if the process is out of file descriptors, or the text is no path, such
    ///   as one with a NUL.
    @discardableResult
    public static func install(file: String? = nil) -> Bool {
        if let file, !file.isEmpty, !file.canBePath { return false }
        return unsafe fatal_signal_install(file) == 0
    }

    /// Installs the same handlers, which leave the note in memory that another process shares.
    ///
    /// - Parameter memory: Zeroed memory of 32 KiB that stays mapped.
    @discardableResult
    package static func install(in memory: UnsafeMutablePointer<CChar>) -> Bool {
        unsafe fatal_signal_install_in(memory) == 0
    }

    /// Reads a note; nil if the text is not one.
    package init?(text: [UInt8]) {
        guard let json = try? JSONValue(parsing: text), let note = CrashNote(json) else { return nil }
        self = note
    }

    /// Reads the note that an earlier process left, and removes the file.
    ///
    /// - Returns: Nil if there is no file, or no note in it.
    public static func take(from file: String) -> CrashNote? {
        guard let note = note(in: file) else { return nil }
        note.remove(from: file)
        return note
    }

    /// Removes a note that has been handled, unless another process has left a note in the file since.
    package func remove(from file: String) {
        if Self.note(in: file) == self { unsafe unlink(file) }
    }

    /// The most that a note has, in bytes.
    package static let sizeLimit = Int(FATAL_SIGNAL_NOTE_SIZE)

    /// Reads the note that an earlier process left.
    ///
    /// - Returns: Nil if there is no file, or no note in it.
    public static func note(in file: String) -> CrashNote? {
        guard file.canBePath else { return nil }
        let descriptor = unsafe open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: sizeLimit) { buffer, count in
            count = max(0, unsafe read(descriptor, buffer.baseAddress, buffer.count))
        }
        return (try? JSONValue(parsing: bytes)).flatMap(CrashNote.init)
    }

    /// Reads a note; nil if the document is not one.
    package init?(_ json: JSONValue) {
        guard json["version"]?.integer == 1, let event = json["event"]?.string else { return nil }
        self.event = event
        plugin = json["plugin"]?.string
        process = json["process"]?.integer
        command = json["command"]?.string
        address = json["address"]?.string
        thread = json["thread"]?.integer
        frames = (json["frames"]?.array ?? []).compactMap { pair in
            guard let pair = pair.array, pair.count == 2, let file = pair[0].string, let offset = pair[1].string else {
                return nil
            }
            return Frame(file: file, offset: offset)
        }
        gates = json["gates"]?.string
        path = json["path"]?.string
        offset = json["offset"]?.string
        isRunning = json["running"]?.bool ?? false
        time = Timestamp(
            nanoseconds: UInt64(clamping: json["seconds"]?.integer ?? 0).multipliedFullWidth(by: 1_000_000_000).low
        )
    }
}
