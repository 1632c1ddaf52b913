// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CRunner
import ConnectorManifest
import ConnectorTestSupport

@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A child process that enters the sandbox, or the one that takes its place.
struct SandboxedProcess {
    /// How it ended.
    enum End: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// Everything that a child said, and how it ended.
    struct Output {
        var lines: [Substring]
        var end: End
        /// The calls that this process has refused, each once.
        var refusals: [SandboxRefusal] = []
        /// Why no call is reported; nil if they are.
        var unreported: Int32?

        /// The result of the act: 0 or an errno; nil if it ended the process.
        var act: Int32? { value("act: ") }

        /// The number after a text.
        func value(_ prefix: String) -> Int32? {
            lines.first { $0.hasPrefix(prefix) }.flatMap { Int32($0.dropFirst(prefix.count)) }
        }

        /// A layer's line: whether it holds, its version, its error, its detail.
        func layer(_ name: String) -> String? {
            lines.first { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
        }
    }

    /// The process that is to be awaited.
    let identifier: pid_t
    private let output: Int32
    /// From where the listener comes; closed unless this process is to refuse calls.
    private let handover: Int32

    /// The number of the pipe for a successor, or of the socket for it and the listener, in the child.
    static let successor: Int32 = 5

    /// Starts a program, whose arguments say whether it is to have a successor.
    init(_ program: String, _ arguments: [String], hasSuccessor: Bool, reports: Bool = false) throws {
        // Nothing comes through a pipe but the number.
        let lines = try Self.pipe(), successor = try reports ? Self.socketPair() : Self.pipe()
        let started = Result {
            try Self.spawn([program] + arguments, output: lines.writing, successor: successor.writing)
        }
        close(lines.writing)
        close(successor.writing)
        defer { if !reports { close(successor.reading) } }
        (output, handover) = (lines.reading, successor.reading)
        let process = try started.get()
        var number: Int32 = 0
        let size = MemoryLayout<Int32>.size
        if hasSuccessor, unsafe read(successor.reading, &number, size) == size, number > 0 {
            _ = Self.awaitEnd(of: process)
            identifier = number
        } else {
            identifier = process
        }
    }

    /// Starts the fixture that enters the sandbox and does one thing.
    init(_ arguments: String..., inNamespaces: Bool = false) throws {
        try self.init(arguments, inNamespaces: inNamespaces)
    }

    /// Starts the fixture that enters the sandbox and does one thing.
    init(_ arguments: [String], inNamespaces: Bool = false) throws {
        let options = Self.options(inNamespaces: inNamespaces)
        try self.init(Fixtures.tool("sandboxed"), options + arguments, hasSuccessor: inNamespaces)
    }

    /// Starts the fixture, which asks this process about what it refuses: see ``finishRefusing(closesAtOnce:)``.
    init(reporting arguments: String...) throws {
        try self.init(reporting: arguments)
    }

    /// Starts the fixture, which asks this process about what it refuses.
    init(reporting arguments: [String]) throws {
        let options = Self.options(inNamespaces: true)
        try self.init(Fixtures.tool("sandboxed"), options + arguments, hasSuccessor: true, reports: true)
    }

    /// The options of the fixture with or without namespaces, which need a successor.
    static func options(inNamespaces: Bool) -> [String] {
        inNamespaces ? ["--successor", "\(successor)", "--keep", "\(successor)"] : []
    }

    /// Reads what the process says until it ends.
    func finish() -> Output {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(output, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        close(output)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return Output(lines: lines, end: Self.awaitEnd(of: identifier))
    }

    /// Refuses what the process asks about, and reads what it says until it ends.
    ///
    /// - Parameter closesAtOnce: Whether the listener is closed instead.
    func finishRefusing(closesAtOnce: Bool = false) -> Output {
        var (reason, descriptor): (Int32, Int32) = (0, -1)
        let size = MemoryLayout<Int32>.size
        let count = unsafe runner_receive(handover, &reason, UInt64(size), &descriptor, 1)
        close(handover)
        if closesAtOnce, descriptor >= 0 {
            close(descriptor)
            descriptor = -1
        }
        var listener = SandboxListener()
        var refusals: [SandboxRefusal] = []
        while descriptor >= 0 {
            var entries = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: output, events: 0, revents: 0),
            ]
            guard unsafe poll(&entries, 2, -1) > 0, entries[0].revents & Int16(POLLIN) != 0 else { break }
            guard let refusal = try? listener.refuse(descriptor) else { continue }
            refusals.append(refusal)
        }
        var result = finish()
        if descriptor >= 0 { close(descriptor) }
        result.refusals = refusals
        if count == Int64(size), reason != 0 { result.unreported = reason }
        return result
    }

    /// Waits for the next bytes of output, and returns them.
    func line() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(output, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    private static func spawn(_ arguments: [String], output: Int32, successor: Int32) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, successor, Self.successor)
        var process: pid_t = 0
        let status = unsafe withStrings(arguments) { words in
            unsafe withoutBlockedSignals { unsafe posix_spawn(&process, arguments[0], &actions, $0, words, environ) }
        }
        guard status == 0 else { throw ConnectorError(.failed, "\(arguments[0]) does not start") }
        return process
    }

    private static func awaitEnd(of process: pid_t) -> End {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        try pair("pipe") { unsafe Glibc.pipe(&$0) }
    }

    private static func socketPair() throws -> (reading: Int32, writing: Int32) {
        try pair("socket") { unsafe Glibc.socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &$0) }
    }

    private static func pair(
        _ name: String,
        _ make: (inout [Int32]) -> Int32
    ) throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard make(&ends) == 0 else { throw ConnectorError(.failed, "no \(name) for a test") }
        // Above the low numbers that a child uses; the child's own end is no longer closed on exec once it is duplicated.
        let reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 64), writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 64)
        close(ends[0])
        close(ends[1])
        return (reading, writing)
    }
}
