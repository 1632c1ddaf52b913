// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program that is run for its output: without a shell, with a small environment, a time limit and a size limit.
///
/// The child has its own process group, which is killed at the deadline, inherits no descriptor, reads nothing, and what it
/// writes to standard error is dropped. The caller's thread is blocked until the child has ended and is reaped.
package struct ChildCommand: Sendable, Hashable {
    /// The program, a path or a name that is searched in `PATH`, and its arguments.
    package var arguments: [String]
    /// The variables that the child gets, and no others.
    package var environment: [String: String]
    /// How long the child may run.
    package var timeout: Duration
    /// The most bytes that it may write.
    package var limit: Int

    /// Why a command has no output.
    package enum Failure: Error, Sendable, Hashable {
        /// It could not be started; the `errno`.
        case notStarted(Int32)
        /// It ended with another status than 0.
        case status(Int32)
        /// A signal ended it.
        case signal(Int32)
        /// It had not ended at its deadline.
        case overdue
        /// It wrote more than the limit.
        case tooLong
    }

    /// Creates a command; nothing runs yet.
    package init(_ arguments: [String], environment: [String: String], timeout: Duration, limit: Int) {
        self.arguments = arguments
        self.environment = environment
        self.timeout = timeout
        self.limit = limit
    }

    /// Runs the program, and returns what it wrote to standard output.
    package func output() throws(Failure) -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .notStarted(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (source, target) = (ends[0], ends[1])
        defer { close(source) }
        let started = Result { () throws(Failure) in try start(writingTo: target) }
        close(target)
        let child = try started.get()
        _ = fcntl(source, F_SETFL, O_NONBLOCK)
        return try finish(child, readingFrom: source)
    }

    /// Starts the child in a process group of its own.
    private func start(writingTo target: Int32) throws(Failure) -> pid_t {
        guard let program = arguments.first, !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw .notStarted(ENOENT)
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
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, target, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        #if os(Linux)
            // What the application opened without O_CLOEXEC. The closing of what is gone meanwhile is no error.
            for entry in (try? Directory.entries(of: "/proc/self/fd")) ?? [] {
                guard let descriptor = Int32(entry.name), descriptor > STDERR_FILENO,
                    fcntl(descriptor, F_GETFD) == 0
                else { continue }
                unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
            }
        #endif
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #if canImport(Darwin)
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #endif
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let words = CStrings(arguments)
        let variables = CStrings(environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        var child: pid_t = 0
        let number = unsafe posix_spawnp(&child, program, &actions, &attributes, words.pointers, variables.pointers)
        guard number == 0 else { throw .notStarted(number) }
        return child
    }

    /// Reads until the child has ended, or must not go on, and reaps it.
    private func finish(_ child: pid_t, readingFrom source: Int32) throws(Failure) -> [UInt8] {
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var output: [UInt8] = []
        var status: Int32?
        var isOpen = true
        var pause: Int32 = 1
        func kill(_ failure: Failure) -> Failure {
            // The group first: the child's own children may hold the pipe.
            #if canImport(Glibc)
                _ = Glibc.kill(-child, SIGKILL)
            #elseif canImport(Musl)
                _ = Musl.kill(-child, SIGKILL)
            #else
                _ = Darwin.kill(-child, SIGKILL)
            #endif
            if status == nil { _ = Self.wait(for: child, 0) }
            return failure
        }
        while true {
            if isOpen { isOpen = Self.read(source, into: &output, limit: limit) }
            guard output.count <= limit else { throw kill(.tooLong) }
            if status == nil { status = Self.wait(for: child, WNOHANG) }
            // A child of the child that holds the pipe delays nothing.
            if let status {
                if isOpen { _ = Self.read(source, into: &output, limit: limit) }
                guard output.count <= limit else { throw .tooLong }
                try Self.check(status)
                return output
            }
            guard clock.now < deadline else { throw kill(.overdue) }
            var descriptor = pollfd(fd: isOpen ? source : -1, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&descriptor, 1, pause)
            pause = min(pause * 2, 20)
        }
    }

    /// Reads what there is; false at the end.
    private static func read(_ source: Int32, into output: inout [UInt8], limit: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while output.count <= limit {
            #if canImport(Glibc)
                let count = unsafe Glibc.read(source, &buffer, buffer.count)
            #elseif canImport(Musl)
                let count = unsafe Musl.read(source, &buffer, buffer.count)
            #else
                let count = unsafe Darwin.read(source, &buffer, buffer.count)
            #endif
            if count < 0 { return errno == EINTR || errno == EAGAIN }
            if count == 0 { return false }
            output += buffer[..<count]
        }
        return true
    }

    /// Reaps the child; nil if it has not ended. Somebody else may have reaped it: then it counts as ended well.
    private static func wait(for child: pid_t, _ options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let result = unsafe waitpid(child, &status, options)
            if result == child { return status }
            if result == 0 { return nil }
            guard errno == EINTR else { return 0 }
        }
    }

    private static func check(_ status: Int32) throws(Failure) {
        let signal = status & 0x7F
        guard signal == 0 else { throw .signal(signal) }
        let code = status >> 8 & 0xFF
        guard code == 0 else { throw .status(code) }
    }
}

/// C strings that end with a null pointer, as exec(3) takes them.
@safe
final class CStrings {
    /// The strings, freed with this object.
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String]) {
        unsafe pointers = texts.map { unsafe strdup($0) } + [nil]
    }

    deinit {
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
    }
}
