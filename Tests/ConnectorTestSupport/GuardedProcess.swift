// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Synchronization

#if canImport(Glibc)
    package import Glibc
#else
    package import Darwin
#endif

/// A process behind a shell that kills it when this value ends, or this process, however that ends.
package final class GuardedProcess: Sendable {
    /// The shell.
    package let identifier: pid_t
    /// The other end of the shell's standard input; nil once the process is killed.
    private let input: Mutex<Int32?>

    /// Starts a program, given by its path, which inherits standard output.
    package convenience init(_ arguments: [String]) throws {
        try self.init(
            ["/bin/sh", "-c", #""$0" "$@" & read -r _; kill -KILL $! 2>&-; wait"#] + arguments,
            isReady: true
        )
    }

    /// Starts a shell in namespaces of its own, and returns once it is there.
    ///
    /// - Parameter options: Those of unshare(1).
    package convenience init(unshared options: String...) throws {
        let script = ["/bin/sh", "-c", "echo >&0; read -r _"]
        try self.init(["/usr/bin/unshare"] + options + script, isReady: false)
    }

    private init(_ arguments: [String], isReady: Bool) throws {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ConnectorError(.failed, "no pipe for a test")
        }
        let process = Result { try Self.spawn(arguments, input: ends[0]) }
        close(ends[0])
        input = Mutex(ends[1])
        identifier = try process.get()
        guard !isReady else { return }
        var byte: UInt8 = 0
        guard unsafe read(ends[1], &byte, 1) == 1 else {
            throw ConnectorError(.failed, "\(arguments[0]) does not start")
        }
    }

    /// Kills the process, as a failing machine would.
    package func kill() {
        guard let end = input.withLock({ $0.take() }) else { return }
        close(end)
        _ = waitpid(identifier, nil, 0)
    }

    deinit { kill() }

    /// Runs a program to its end.
    ///
    /// - Returns: Whether its status is 0.
    package static func run(_ arguments: [String]) -> Bool {
        guard let process = try? spawn(arguments) else { return false }
        var status: Int32 = 0
        return unsafe waitpid(process, &status, 0) == process && status == 0
    }

    private static func spawn(_ arguments: [String], input: Int32? = nil) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, 0) }
        var process: pid_t = 0
        let status = unsafe withStrings(arguments) { words in
            unsafe withoutBlockedSignals { unsafe posix_spawn(&process, arguments[0], &actions, $0, words, environ) }
        }
        guard status == 0 else { throw ConnectorError(.failed, "\(arguments[0]) does not start") }
        return process
    }
}
