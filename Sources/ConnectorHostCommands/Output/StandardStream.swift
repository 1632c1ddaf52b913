// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// One of the two streams that a command writes to.
enum StandardStream: Sendable {
    /// The answer, and nothing else.
    case output
    /// Messages, logs and progress.
    case error

    /// The descriptor for answers; 1 until ``keepOutput()`` duplicates it.
    private static let answer = Atomic<Int32>(STDOUT_FILENO)
    /// The `errno` of the first failed write of an answer; 0 for none.
    private static let failure = Atomic<Int32>(0)

    /// The lines on their way to standard error, and whether they take it.
    private static let errors = LineQueue(to: STDERR_FILENO)
    private static let queuesErrors = Atomic<Bool>(false)

    /// The descriptor to write to.
    var descriptor: Int32 {
        switch self {
        case .output: Self.answer.load(ordering: .relaxed)
        case .error: STDERR_FILENO
        }
    }

    /// Whether the stream is a terminal.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The standard descriptors that are terminals.
    static var terminals: [Int32] {
        [STDIN_FILENO, output.descriptor, STDERR_FILENO].filter { isatty($0) == 1 }
    }

    /// Whether the terminal behind a descriptor was closed.
    static func isHungUp(_ terminal: Int32) -> Bool {
        var entry = pollfd(fd: terminal, events: 0, revents: 0)
        return unsafe poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
    }

    /// Opens `/dev/null` for each standard descriptor that is closed, so that no other file or pipe gets its number.
    ///
    /// Reading the input and writing an answer still fail, because these are opened for the opposite.
    static func fillGaps() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // This is the lowest free number, so it is the one that open(2) returns.
            _ = unsafe open("/dev/null", mode)
        }
    }

    /// Duplicates standard output for answers, and redirects descriptor 1 to standard error.
    ///
    /// If a plugin prints, against the rules, its output goes to standard error and does not corrupt the answer.
    static func keepOutput() {
        guard answer.load(ordering: .relaxed) == STDOUT_FILENO else { return }
        let own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard own >= 0 else { return }
        guard dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
            close(own)
            return
        }
        answer.store(own, ordering: .relaxed)
    }

    /// From now on nothing waits for a reader of standard error, for commands that run until they are stopped.
    static func queueErrors() { queuesErrors.store(true, ordering: .relaxed) }

    /// Waits until what was written to standard error is there, but no longer than a second: its reader may have stalled.
    static func flushErrors() {
        if queuesErrors.load(ordering: .relaxed) { errors.flush(within: .seconds(1)) }
    }

    /// The reason that an answer could not be written, such as a full disk; nil if no write failed.
    static var outputFailure: SystemError? {
        let number = failure.load(ordering: .relaxed)
        return number == 0 ? nil : SystemError(number)
    }

    /// Writes a whole text. A failed write of an answer is recorded in ``outputFailure``; one to standard error is ignored.
    func write(_ text: String) {
        if self == .error, Self.queuesErrors.load(ordering: .relaxed) { return Self.errors.write(text) }
        guard self == .output else {
            try? OutputFile.write(Array(text.utf8), to: descriptor)
            return
        }
        do throws(SystemError) {
            try Self.writeAnswer(text, to: descriptor)
        } catch {
            _ = Self.failure.compareExchange(expected: 0, desired: error.number, ordering: .relaxed)
        }
    }

    /// Whether a signal has asked the command to end.
    private static let isEnding = Atomic<Bool>(false)

    /// From now on, answers wait for their reader no longer than a second in all.
    static func endSoon() { isEnding.store(true, ordering: .relaxed) }

    /// Writes an answer in pieces that a pipe with room takes at once.
    ///
    /// - Throws: `ECANCELED` if the command is to end, and the reader does not read.
    private static func writeAnswer(_ text: String, to descriptor: Int32) throws(SystemError) {
        var rest = Array(text.utf8)[...]
        var patience = failure.load(ordering: .relaxed) == 0 ? 10 : 0
        while !rest.isEmpty {
            var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            while unsafe poll(&target, 1, 100) == 0 {
                guard isEnding.load(ordering: .relaxed) else { continue }
                patience -= 1
                guard patience > 0 else { throw SystemError(ECANCELED) }
            }
            try OutputFile.write(Array(rest.prefix(pieceSize)), to: descriptor)
            rest = rest.dropFirst(pieceSize)
        }
    }

    /// The size of such a piece, in bytes: PIPE_BUF of pipe(7).
    private static let pieceSize = 4096

    /// Writes a text and ends the line.
    func writeLine(_ text: String) { write(text + "\n") }
}

extension StandardStream {
    /// Writes a warning to standard error.
    @Sendable static func warn(_ text: String) {
        let style = TextStyle.detected(for: .error)
        Self.error.writeLine(style.paint("warning: ", .warning) + style.shown(text))
    }
}
