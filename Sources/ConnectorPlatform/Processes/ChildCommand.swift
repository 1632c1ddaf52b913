// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if os(Linux)
    internal import CLinux
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program that is run for its output: without a shell, with a small environment, a time limit and a size limit.
///
/// The child has its own process group, which is killed at the deadline. It inherits no descriptors and reads nothing, and what it
/// writes to standard error is dropped. The caller's thread is blocked until the child has ended and been reaped.
package struct ChildCommand: Sendable, Hashable {
    /// The program, a path or a name that is searched in `PATH`, and its arguments.
    package var arguments: [String]
    /// The variables that the child gets, and no others.
    package var environment: ProcessEnvironment
    /// The directory that the child runs in; nil for that of this process.
    package var directory: String?
    /// How long the child may run.
    package var timeout: Duration
    /// The most bytes that it may write.
    package var limit: Int

    /// Why a command has no output.
    package enum Failure: Error, Sendable, Hashable {
        /// It could not be started; the `errno`.
        case notStarted(Int32)
        /// It ended with a status other than 0.
        case status(Int32)
        /// A signal ended it.
        case signal(Int32)
        /// It ended, and the system does not know how: ``ChildProcess/unknownEndRemedy``.
        case unknownEnd
        /// It had not ended at its deadline.
        case overdue
        /// It wrote more than the limit.
        case tooLong
    }

    /// The children of this process.
    private struct Running {
        /// Those that have not been reaped, each of which leads a process group; nil once ``killAll()`` has been
        /// called.
        var children: Set<pid_t>? = []
        /// How many are being started.
        var starting = 0
    }

    private static let running = Monitor(Running())

    /// How many nanoseconds ``killAll()`` waits for starts in progress, which a file system that hangs may delay
    /// forever.
    private static let patience: UInt64 = 1_000_000_000

    /// Creates a command; nothing runs yet.
    package init(
        _ arguments: [String],
        environment: ProcessEnvironment,
        directory: String? = nil,
        timeout: Duration,
        limit: Int
    ) {
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.timeout = timeout
        self.limit = limit
    }

    /// Runs the program, and returns what it wrote to standard output.
    ///
    /// - Parameter isCancelled: Asked before the start and then some times a second; the child's group is killed once the answer is
    ///   true.
    package func output(unless isCancelled: () -> Bool = { false }) throws(Failure) -> [UInt8] {
        guard !isCancelled(), Self.running.withLock({ $0.children != nil }) else { throw .signal(SIGKILL) }
        let pipe: Pipe
        do throws(SystemError) {
            pipe = try Pipe()
        } catch {
            throw .notStarted(error.number)
        }
        defer { close(pipe.reading) }
        let started = Result { () throws(Failure) in try start(writingTo: pipe.writing) }
        close(pipe.writing)
        let child = try started.get()
        // The child's end blocks, as programs expect.
        _ = fcntl(pipe.reading, F_SETFL, O_NONBLOCK)
        return try finish(child, readingFrom: pipe.reading, unless: isCancelled)
    }

    /// Kills every child of this process with its group, and lets no other one start: for a process that ends at once, whose children
    /// would go on.
    package static func killAll() {
        // The numbers belong to no other processes, because none of these children has been reaped.
        running.withLock { running in
            for child in running.children ?? [] { kill(group: child) }
            running.children = nil
        }
        // A child that is being started is killed by the thread that starts it, which the process must not forestall.
        let end = SystemTime.monotonic() + patience
        running.wait { running -> Monitor<Running>.Step<Void> in
            running.starting > 0 && SystemTime.monotonic() < end ? .wait(until: end) : .proceed(())
        }
    }

    /// Starts the child in a process group of its own.
    private func start(writingTo target: Int32) throws(Failure) -> pid_t {
        let begins = Self.running.withLock { running in
            if running.children != nil { running.starting += 1 }
            return running.children != nil
        }
        guard begins else { throw .signal(SIGKILL) }
        defer {
            Self.running.withLock { $0.starting -= 1 }
            Self.running.signal()
        }
        do throws(SystemError) {
            let child = try unsafe ChildProcess.start(arguments, environment: environment, ownsGroup: true) { actions in
                if let directory { unsafe posix_spawn_file_actions_addchdir_np(&actions, directory) }
                unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                unsafe posix_spawn_file_actions_adddup2(&actions, target, STDOUT_FILENO)
                unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
                #if os(Linux)
                    // Closes what the application opened without O_CLOEXEC. Closing a descriptor that is gone by then is not an
                    // error.
                    for entry in (try? Directory.entries(of: "/proc/self/fd")) ?? [] {
                        guard let descriptor = Int32(entry.name), descriptor > STDERR_FILENO,
                            fcntl(descriptor, F_GETFD) == 0
                        else { continue }
                        unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
                    }
                #endif
            }
            let isLate = Self.running.withLock { $0.children?.insert(child) == nil }
            if isLate { Self.kill(group: child) }
            return child
        } catch {
            throw .notStarted(error.number)
        }
    }

    /// Reads until the child has ended, or must not continue, and reaps it.
    private func finish(
        _ child: pid_t,
        readingFrom source: Int32,
        unless isCancelled: () -> Bool
    ) throws(Failure) -> [UInt8] {
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var output: [UInt8] = []
        var isOpen = true
        var pause: Int32 = 1
        func end(_ failure: Failure) -> Failure {
            // The group first: the child's own children may hold the pipe.
            Self.kill(group: child)
            Self.running.withLock { _ = $0.children?.remove(child) }
            _ = ChildProcess.wait(for: child, 0)
            return failure
        }
        while true {
            if isOpen { isOpen = Self.read(source, into: &output, limit: limit) }
            guard output.count <= limit else { throw end(.tooLong) }
            // A child of the child that still holds the pipe delays nothing.
            if let end = Self.reap(child) {
                if isOpen { _ = Self.read(source, into: &output, limit: limit) }
                guard output.count <= limit else { throw .tooLong }
                switch end {
                case .status(0): return output
                case .status(let status): throw .status(status)
                case .signal(let signal): throw .signal(signal)
                case .unknown: throw .unknownEnd
                }
            }
            guard clock.now < deadline else { throw end(.overdue) }
            guard !isCancelled() else { throw end(.signal(SIGKILL)) }
            var descriptor = pollfd(fd: isOpen ? source : -1, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&descriptor, 1, pause)
            pause = min(pause * 2, 20)
        }
    }

    /// Reaps the child if it has ended. Its number may then become another process's, so it is no longer one to kill.
    private static func reap(_ child: pid_t) -> ChildProcess.End? {
        running.withLock { running in
            guard let end = ChildProcess.wait(for: child, WNOHANG) else { return nil }
            running.children?.remove(child)
            return end
        }
    }

    private static func kill(group: pid_t) {
        #if canImport(Glibc)
            _ = Glibc.kill(-group, SIGKILL)
        #elseif canImport(Musl)
            _ = Musl.kill(-group, SIGKILL)
        #else
            _ = Darwin.kill(-group, SIGKILL)
        #endif
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
}
