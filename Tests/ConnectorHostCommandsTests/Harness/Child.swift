// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Dispatch
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A process that a test started, whose output is read as it comes.
final class Child: Sendable {
    /// The process, until it was waited for.
    let identifier: pid_t
    /// Kept, so that it is not removed before the process has ended.
    private let workspace: Workspace?
    private let output: Int32
    private let error: Int32
    /// Whether it was waited for, so that its identifier may belong to another process.
    private let isFinished = Mutex(false)

    /// Why a process could not be started.
    struct Failure: Error {
        /// An `errno`.
        var number: Int32
    }

    /// Starts a program.
    init(start path: String, _ arguments: [String], _ program: Program) throws {
        workspace = program.workspace
        (identifier, output, error) = try Self.starting.withLock { _ in try Self.spawn(path, arguments, program) }
    }

    /// Only one at a time: a child that is started while another's pipes are made would keep those open.
    private static let starting = Mutex(())

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ program: Program
    ) throws -> (identifier: pid_t, output: Int32, error: Int32) {
        let output = program.isOnTerminal ? try Pipe.terminal() : try Pipe()
        if program.isNonblocking { output.makeSmallAndNonblocking() }
        let error = try Pipe()
        if program.isErrorFull { error.fill() }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, program.input, O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, error.writing, 2)
        // Otherwise a server's socket would go on listening in the child after the server has stopped.
        for descriptor in Int32(3)..<512 { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
        var identifier: pid_t = 0
        let variables = program.environment.map { "\($0.key)=\($0.value)" }
        // The shell changes into the directory and becomes the program.
        let words = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", program.directory, path] + arguments
        let status = unsafe withStrings(words) { words in
            unsafe withStrings(variables) { variables in
                unsafe withoutBlockedSignals {
                    unsafe posix_spawn(&identifier, "/bin/sh", &actions, $0, words, variables)
                }
            }
        }
        close(output.writing)
        close(error.writing)
        guard status == 0 else { throw Failure(number: status) }
        return (identifier, output.reading, error.reading)
    }

    deinit {
        signal(SIGKILL)
        close(output)
        close(error)
    }

    /// Sends a signal, unless it has ended and was waited for.
    func signal(_ number: Int32) {
        isFinished.withLock { isFinished in
            if !isFinished { kill(identifier, number) }
        }
    }

    /// Closes the terminal that is its standard output.
    func closeTerminal() {
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        // The number stays in use until the end of this value.
        dup2(null, output)
        close(null)
    }

    /// Kills the process if something takes so long that a test would hang; the test then fails.
    private func limited<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        let limit = DispatchWorkItem { [weak self] in self?.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(300), execute: limit)
        defer { limit.cancel() }
        return await blocking(body)
    }

    /// Reads standard output until it contains a text; what was read so far at its end.
    func output(until text: String) async -> String {
        await limited { [output] in read(output, until: text) }
    }

    /// Reads standard error until it contains a text; what was read so far at its end.
    @discardableResult
    func error(until text: String) async -> String {
        await limited { [error] in read(error, until: text) }
    }

    /// Reads the rest of both streams and waits for the end of the process.
    func finish() async throws -> Program.Result {
        async let output = blocking { [output] in readAll(output) }
        async let error = blocking { [error] in readAll(error) }
        let status = await limited { [self] in
            var ended = unsafe siginfo_t()
            while unsafe waitid(P_PID, id_t(identifier), &ended, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            var status: Int32 = 0
            isFinished.withLock { isFinished in
                while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
                isFinished = true
            }
            return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        }
        return Program.Result(output: await output, error: await error, status: status)
    }
}

/// A pair of connected descriptors that no other child inherits.
private struct Pipe {
    var reading: Int32
    var writing: Int32

    init() throws {
        var descriptors: (Int32, Int32) = (0, 0)
        let status = unsafe withUnsafeMutableBytes(of: &descriptors) { buffer in
            unsafe pipe(buffer.baseAddress?.assumingMemoryBound(to: Int32.self))
        }
        guard status == 0 else { throw Child.Failure(number: errno) }
        (reading, writing) = descriptors
        for descriptor in [reading, writing] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    private init(reading: Int32, writing: Int32) {
        self.reading = reading
        self.writing = writing
    }

    /// Lets the pipe hold no more than a page, and a writer not wait for room.
    func makeSmallAndNonblocking() {
        // F_SETPIPE_SZ of fcntl(2), a macro that Swift does not see.
        let setSize: Int32 = 1031
        _ = fcntl(writing, setSize, 4096)
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
    }

    /// Fills the pipe with empty lines, so that its next writer waits for a reader.
    func fill() {
        makeSmallAndNonblocking()
        let lines = [UInt8](repeating: 0x0A, count: 4096)
        while unsafe write(writing, lines, lines.count) > 0 {}
        _ = fcntl(writing, F_SETFL, 0)
    }

    /// The two ends of a pseudo-terminal (pts(4)).
    static func terminal() throws -> Pipe {
        let reading = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), macros that Swift does not see.
        let (unlock, tellNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var isLocked: Int32 = 0
        var number: UInt32 = 0
        guard reading >= 0, unsafe ioctl(reading, unlock, &isLocked) == 0,
            unsafe ioctl(reading, tellNumber, &number) == 0
        else { throw Child.Failure(number: errno) }
        let writing = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard writing >= 0 else { throw Child.Failure(number: errno) }
        return Pipe(reading: reading, writing: writing)
    }
}

/// Runs something that blocks on a thread of its own, not on one that other tests need.
private func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "child").async { continuation.resume(returning: body()) }
    }
}

/// What can be read now; nil at the end.
private func read(_ descriptor: Int32) -> [UInt8]? {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
        repeat {
            count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        } while count < 0 && errno == EINTR
        count = max(0, count)
    }
    return bytes.isEmpty ? nil : bytes
}

private func read(_ descriptor: Int32, until text: String) -> String {
    var bytes: [UInt8] = []
    while !String(decoding: bytes, as: UTF8.self).contains(text), let more = read(descriptor) { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
}

private func readAll(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    while let more = read(descriptor) { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
}
