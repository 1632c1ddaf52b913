// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A child process with this process's terminal and working directory, which the caller waits for.
package final class ForegroundProcess: Sendable {
    private let id: pid_t
    /// Whether it has been reaped, so that its id may be another process's.
    private let isReaped = Mutex(false)

    /// Starts a program, in this process's group, so that Ctrl-C reaches it, too.
    ///
    /// - Parameters:
    ///   - arguments: The program, a path or a name that is searched in `PATH`, and its arguments; at least one.
    ///   - environment: The variables that the child gets, and no others.
    ///   - output: The descriptor that becomes its standard output.
    package init(_ arguments: [String], environment: ProcessEnvironment, output: Int32) throws(SystemError) {
        id = try unsafe ChildProcess.start(arguments, environment: environment, ownsGroup: false) { actions in
            unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        }
    }

    /// Sends it a signal, unless it has been reaped.
    package func signal(_ number: Int32) {
        isReaped.withLock { isReaped in
            if !isReaped { kill(id, number) }
        }
    }

    /// Waits for its end. Blocks; call it once.
    ///
    /// - Returns: Its exit status, or 128 plus the signal that ended it, as a shell reports it; nil if the system does not know how it
    ///   ended.
    package func status() -> Int32? {
        // Waits without reaping it, and so without the lock.
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let end = isReaped.withLock { isReaped in
            isReaped = true
            return ChildProcess.wait(for: id, 0)
        }
        return switch end {
        case .status(let status): status
        case .signal(let signal): 128 + signal
        case .unknown, nil: nil
        }
    }
}
