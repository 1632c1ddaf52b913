// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A child process with this process's terminal and working directory, for which somebody waits.
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
        guard let program = arguments.first, !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw SystemError(ENOENT)
        }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Signals that this process receives by other means are blocked in it.
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let words = CStrings(arguments)
        let variables = CStrings(environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        var child: pid_t = 0
        let number = unsafe posix_spawnp(&child, program, &actions, &attributes, words.pointers, variables.pointers)
        guard number == 0 else { throw SystemError(number) }
        id = child
    }

    /// Waits for its end. Blocks; call it once.
    ///
    /// - Returns: Its exit status, or 128 and the signal that ended it, as a shell says it.
    package func status() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return 0 }
        }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}
