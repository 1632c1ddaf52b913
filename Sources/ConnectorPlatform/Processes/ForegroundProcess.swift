// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A child process with this process's terminal and working directory, which the caller waits for.
package struct ForegroundProcess: Sendable {
    /// Its id, valid until status() has returned.
    package let id: Int32

    /// Starts a program, in this process's group, so that Ctrl-C reaches it, too.
    ///
    /// - Parameters:
    ///   - arguments: The program, a path or a name that is searched in `PATH`, and its arguments; at least one.
    ///   - environment: The variables that the child gets, and no others.
    ///   - output: The descriptor that becomes its standard output.
    package init(_ arguments: [String], environment: [String: String], output: Int32) throws(SystemError) {
        id = try unsafe ChildProcess.start(arguments, environment: environment, ownsGroup: false) { actions in
            unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        }
    }

    /// Waits for its end. Blocks; call it once.
    ///
    /// - Returns: Its exit status, or 128 and the signal that ended it, as a shell says it.
    package func status() -> Int32 {
        let status = ChildProcess.wait(for: id, 0) ?? 0
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}
