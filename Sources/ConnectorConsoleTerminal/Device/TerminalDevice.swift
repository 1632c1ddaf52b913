// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
// Dispatch documents that its sources may be used from any thread, but does not declare them Sendable.
@unsafe @preconcurrency internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The terminal of the process, in full-screen mode.
final class TerminalDevice: Sendable {
    /// An event of the terminal.
    enum Event: Sendable {
        /// Keys, mouse events, or pasted text.
        case inputs([TerminalInput])
        /// The size of the terminal changed.
        case resized
        /// The process received SIGTSTP.
        case stopping
        /// The process was stopped and continues.
        case continued
        /// The terminal is closed, or cannot be read.
        case gone
    }

    private let terminal: Int32
    private let messages: Int32
    /// Closing it ends the thread that reads keys.
    private let wake: Int32
    private let writing = DispatchQueue(label: "connector-screen")
    /// Whether a task that wrote was cancelled: nothing waits any longer for a terminal that accepts nothing.
    private let isCancelled = Atomic(false)
    private let sources: [any DispatchSourceSignal]

    /// Switches a terminal to full-screen mode.
    ///
    /// - Parameters:
    ///   - path: The terminal, by default the controlling terminal of the process.
    ///   - messages: The descriptor that receives standard output and standard error until ``stop()``.
    ///   - onEvent: Called from several threads.
    /// - Throws: `unsupported` if the process has no controlling terminal, or cannot set its modes.
    init(
        _ path: String,
        messages: Int32,
        _ onEvent: @escaping @Sendable (Event) -> Void
    ) throws(ConnectorError) {
        // Not to block is a property of this opening; descriptors that other programs have of the terminal keep theirs.
        terminal = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw Self.noTerminal(SystemError()) }
        // The thread that reads keys closes its descriptors when it ends, so it shares none with the screen.
        let keys = fcntl(terminal, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let pipe: Pipe
        do throws(SystemError) {
            guard keys >= 0 else { throw SystemError() }
            pipe = try Pipe()
        } catch {
            for descriptor in [keys, terminal] { close(descriptor) }
            throw Self.noTerminal(error)
        }
        wake = pipe.writing
        self.messages = messages
        // Installed before full-screen mode begins, so that no signal can leave the terminal in that mode.
        sources = [(SIGWINCH, Event.resized), (SIGTSTP, .stopping), (SIGCONT, .continued)].map { number, event in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { onEvent(event) }
            source.activate()
            return source
        }
        let error = TerminalGuard.enter(input: terminal, output: terminal, messages: messages)
        guard error == 0 else {
            pipe.close()
            for descriptor in [keys, terminal] { close(descriptor) }
            throw Self.noTerminal(SystemError(error))
        }
        let stop = pipe.reading
        let isReading = HostThread.start("connector-keys") {
            let isGone = Self.read(keys, until: stop, onEvent)
            for descriptor in [keys, stop] { close(descriptor) }
            if isGone { onEvent(.gone) }
        }
        if !isReading {
            for descriptor in [keys, stop] { close(descriptor) }
            onEvent(.gone)
        }
    }

    private static func noTerminal(_ cause: SystemError) -> ConnectorError {
        ConnectorError(.unsupported, "there is no terminal to show the console in", cause: cause.text)
    }

    /// Restores the terminal and stops reading keys. Call no other method afterwards.
    func stop() async {
        await withCheckedContinuation { continuation in writing.async { continuation.resume() } }
        TerminalGuard.leave()
        for source in sources { source.cancel() }
        for descriptor in [wake, terminal] { close(descriptor) }
    }

    /// The size in columns and lines.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard unsafe ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Sends bytes to the terminal on a queue of its own, which a slow terminal may block.
    ///
    /// - Returns: False if the terminal is closed, or accepts nothing and the task is cancelled.
    func write(_ bytes: [UInt8]) async -> Bool {
        guard !bytes.isEmpty else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                writing.async { [self] in
                    let isWritten = DeviceBytes.write(bytes, to: terminal) { isCancelled.load(ordering: .relaxed) }
                    continuation.resume(returning: isWritten)
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    /// Restores the terminal and stops the job until the shell continues it.
    ///
    /// The job is the whole process group: a script that waits for this process would otherwise keep the shell waiting.
    ///
    /// - Returns: False if no shell could continue it, because the session's leader is in the group: a terminal or an SSH client
    ///   started this process without a shell, or the shell has no job control.
    func suspend() -> Bool {
        guard getpgrp() != getsid(0) else { return false }
        TerminalGuard.leave()
        kill(0, SIGSTOP)
        return true
    }

    /// Enters full-screen mode again, because another program may have changed the terminal's modes.
    func reenter() {
        TerminalGuard.leave()
        _ = TerminalGuard.enter(input: terminal, output: terminal, messages: messages)
    }

    /// Reads keys until the pipe's other end is closed.
    ///
    /// - Returns: Whether the terminal is gone.
    private static func read(_ keys: Int32, until stop: Int32, _ onEvent: @Sendable (Event) -> Void) -> Bool {
        var parser = InputParser()
        var waiting = [
            pollfd(fd: keys, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&waiting, 2, parser.patience ?? -1)
            if count > 0, waiting[1].revents != 0 { return false }
            if count == 0 {
                onEvent(.inputs(parser.flush()))
            } else if count > 0 {
                guard let bytes = DeviceBytes.read(keys) else { return true }
                let inputs = parser.feed(bytes)
                if !inputs.isEmpty { onEvent(.inputs(inputs)) }
            } else if errno != EINTR {
                return true
            }
        }
    }
}
