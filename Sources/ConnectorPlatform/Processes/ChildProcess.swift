// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How children of this process begin and end.
package enum ChildProcess {
    /// How a child has ended.
    enum End {
        /// It exited with a status.
        case status(Int32)
        /// A signal ended it.
        case signal(Int32)
        /// The system no longer knows: it reaps the children of a process that ignores SIGCHLD, or something else in this process has.
        case unknown
    }

    /// What to do if the system does not know how a child has ended.
    package static let unknownEndRemedy =
        "let this process keep SIGCHLD at its default (SIG_DFL), and reap no child of the host's in it"

    #if canImport(Darwin)
        typealias FileActions = posix_spawn_file_actions_t?
    #else
        typealias FileActions = posix_spawn_file_actions_t
    #endif

    /// Starts a program. No signal is blocked or handled in it, even those that this process blocks in order to receive them by other
    /// means.
    ///
    /// - Parameters:
    ///   - arguments: The program, a path or a name that is searched in `PATH`, and its arguments; at least one.
    ///   - environment: The variables that the child gets, and no others.
    ///   - ownsGroup: Whether it has a process group of its own; on macOS it then inherits no descriptor but those that are added.
    ///   - add: Adds the descriptors that it has.
    /// - Returns: Its id, valid until the process has been reaped.
    static func start(
        _ arguments: [String],
        environment: ProcessEnvironment,
        ownsGroup: Bool,
        _ add: (inout FileActions) -> Void
    ) throws(SystemError) -> pid_t {
        guard let program = arguments.first, !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw SystemError(ENOENT)
        }
        #if canImport(Darwin)
            var actions: FileActions
            var attributes: posix_spawnattr_t?
        #else
            var actions = unsafe FileActions()
            var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe add(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        if ownsGroup {
            flags |= POSIX_SPAWN_SETPGROUP
            #if canImport(Darwin)
                flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
            #endif
            unsafe posix_spawnattr_setpgroup(&attributes, 0)
        }
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let words = CStrings(arguments)
        let variables = CStrings(environment.entries)
        var child: pid_t = 0
        let number = withExtendedLifetime((words, variables)) {
            unsafe posix_spawnp(&child, program, &actions, &attributes, words.arguments, variables.arguments)
        }
        guard number == 0 else { throw SystemError(number) }
        return child
    }

    /// Reaps a child; nil if it has not ended.
    ///
    /// - Parameter options: Those of waitpid(2).
    static func wait(for child: pid_t, _ options: Int32) -> End? {
        var status: Int32 = 0
        while true {
            let result = unsafe waitpid(child, &status, options)
            if result == child {
                let signal = status & 0x7F
                return signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal)
            }
            if result == 0 { return nil }
            guard errno == EINTR else { return .unknown }
        }
    }
}
