// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a runner ended.
package struct RunnerEnd: Sendable {
    /// The status that it exited with; without meaning if a signal ended it, nil if nobody knows how it ended.
    package var status: Int32?
    /// The signal that ended it; 0 for none.
    package var signal: Int32 = 0
    /// Why the system does not say how it ended; nil if it does.
    package var unknown: SystemError?
    /// The note that it left.
    package var note: CrashNote?
    /// The last lines that it wrote.
    package var lines: [String] = []
    /// The calls that its sandbox had refused, by name.
    package var refused: [String] = []
    /// Why the host ended it; nil if it ended on its own.
    package var reason: String?
    /// What it lacked when it ended itself; nil for nothing that is known.
    package var shortage: String?

    /// The status with which a runner exits that finds the memory which it shares with the host overwritten; EX_PROTOCOL of sysexits.h(3).
    package static let overwritten: Int32 = 76
    /// The status with which a runner exits that has no room for a descriptor of the host; EX_OSERR of sysexits.h(3).
    package static let outOfDescriptors: Int32 = 71

    /// The status with which a runner exits whose socket to the host has ended; EX_IOERR of sysexits.h(3).
    package static let disconnected: Int32 = 74

    /// The status with which a runner exits because a plugin has ended the thread of a lane, whose caller can no longer be answered; the
    /// first one that sysexits.h(3) leaves free.
    package static let withoutLane: Int32 = 79
    /// The status with which a runner exits that has no thread, or no descriptor, to serve the host with.
    package static let withoutThread: Int32 = 80

    /// Why a runner without a plugin, whose socket to the host has ended, is of no use, although the host lives.
    static let hasClosedEarly = "it closed the socket to the host"
    /// Why a runner with plugins is of no use then.
    static let hasClosed = "\(hasClosedEarly): a plugin closes descriptors that are not its own"

    /// Creates an end of which nothing is known yet.
    package init() {}

    /// One clause for a person.
    package var description: String { shortage.map { "\($0): \(course)" } ?? course }

    private var course: String {
        if let reason { return reason }
        if let note {
            let thread = note.thread.map { ", on the thread \($0)" } ?? ""
            return note.description.replacingPrefix("the process ", with: "it ") + thread
        }
        if signal != 0 { return "it was ended by \(Self.name(of: signal))" }
        if status == Self.overwritten { return "a plugin has written over the memory that host and runner share" }
        if status == Self.outOfDescriptors { return "it has used up its descriptors" }
        if status == Self.disconnected { return Self.hasClosed }
        if status == Self.withoutLane { return "a function ended the thread that it was called on (pthread_exit)" }
        if status == Self.withoutThread { return "the system has no thread, or no descriptor, for it" }
        if let status { return "it exited with the status \(status)" }
        return "how it ended is not known" + (unknown.map { " (\($0.text))" } ?? "")
    }

    /// What to do outside of the plugins; nil if nothing is known to help.
    var remedy: String? {
        if unknown?.number == ECHILD, note == nil, reason == nil { return ChildProcess.unknownEndRemedy }
        guard status == Self.withoutThread else { return nil }
        return "\(HostThread.remedy), or of open files (ulimit -n, LimitNOFILE)"
    }

    /// The error of a gate whose instance is gone.
    ///
    /// - Parameter operations: What was pending, separated by commas; empty for nothing.
    package func loss(of plugin: String, during operations: String) -> ConnectorError {
        ConnectorError(
            .crashed,
            "\(operations.isEmpty ? "" : "\(operations): ")the runner of \(plugin) has ended: \(description)",
            fix: remedy,
            cause: circumstances,
            isRetryable: true
        )
    }

    /// What may have led to the end; nil for nothing that is known.
    private var circumstances: String? {
        var parts = lines.isEmpty ? [] : ["its last lines: " + lines.joined(separator: " | ")]
        if !refused.isEmpty { parts.append("its sandbox had refused: " + refused.joined(separator: ", ")) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// The error of a call that the runner can no longer answer.
    ///
    /// - Parameters:
    ///   - what: The operation, or what else did not happen.
    ///   - plugin: The plugin's id and version.
    ///   - sending: Whether the runner had taken the call.
    ///   - isRepeatable: Whether the call may be made again even if it took effect.
    package func error(
        _ what: String,
        plugin: String,
        sending: ConnectorError.Sending,
        isRepeatable: Bool
    ) -> ConnectorError {
        let outcome =
            switch sending {
            case .no: "the call was not sent"
            case .yes: "the call was sent, and may have taken effect"
            default: "whether the call was sent is not known, and it may have taken effect"
            }
        var error = ConnectorError(
            .crashed,
            "\(what): the runner of \(plugin) has ended: \(description); \(outcome)",
            fix: remedy,
            cause: circumstances,
            isRetryable: sending == .no || isRepeatable
        )
        error.sending = sending
        return error
    }

    /// Whether something has written over the memory that host and runner share.
    var hasDamagedMemory: Bool { reason == Runner.isCorrupt || reason == nil && status == Self.overwritten }

    /// Whether it ended itself because it could not allocate memory, as the runtimes of Swift, Rust and C++ say.
    var lacksMemory: Bool {
        let words = ["failed to allocate", "memory allocation of", "std::bad_alloc"]
        // Those runtimes end by SIGABRT, SIGILL or SIGTRAP: a plugin may have caught the failure, and crashed later.
        let isAbort = fatalSignal.map { [4, 5, 6].contains($0) } ?? false
        return reason == nil && isAbort && lines.contains { line in words.contains { line.contains($0) } }
    }

    /// Whether a note describes this end, or may do so if nobody knows how it ended.
    func fits(_ note: CrashNote?) -> Bool {
        guard let event = note?.event else { return true }
        guard event.hasPrefix("SIG") else { return signal == 0 }
        return fatalSignal.map { event == Self.name(of: $0) } ?? true
    }

    /// The signal that ended it, if one did. In a PID namespace of its own, the first process exits with 128 plus the signal's number.
    private var fatalSignal: Int32? { signal != 0 ? signal : status.map { $0 - 128 } }

    /// The name of a signal.
    private static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
            SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV",
            SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
            SIGSYS: "SIGSYS",
        ]
        return names[signal] ?? "the signal \(signal)"
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}
