// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
// Dispatch documents that its sources may be used from any thread, but does not tell the compiler.
@unsafe @preconcurrency internal import Dispatch

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
        /// The process continues after it was stopped.
        case continued
        /// The terminal is closed, or cannot be read.
        case gone
    }

    private let terminal: Int32
    private let messages: Int32
    private let wake: (reading: Int32, writing: Int32)
    private let writing = DispatchQueue(label: "connector-screen")
    private let sources: [any DispatchSourceSignal]

    /// How long Escape waits for the rest of a sequence, in milliseconds.
    private static let escapeTimeout: Int32 = 50

    /// Switches the controlling terminal to full-screen mode.
    ///
    /// - Parameters:
    ///   - messages: The descriptor that receives standard output and standard error until ``stop()``.
    ///   - onEvent: Called from several threads.
    /// - Throws: `unsupported` if the process has no controlling terminal, or cannot set its modes.
    init(messages: Int32, _ onEvent: @escaping @Sendable (Event) -> Void) throws(ConnectorError) {
        terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw Self.noTerminal(unsafe String(cString: strerror(errno))) }
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else {
            let reason = unsafe String(cString: strerror(errno))
            close(terminal)
            throw Self.noTerminal(reason)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wake = (ends[0], ends[1])
        self.messages = messages
        // Installed before full-screen mode begins, so that no signal leaves the terminal in it.
        sources = [(SIGWINCH, Event.resized), (SIGTSTP, .stopping), (SIGCONT, .continued)].map { number, event in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { onEvent(event) }
            source.activate()
            return source
        }
        let error = TerminalGuard.enter(input: terminal, output: terminal, messages: messages)
        guard error == 0 else {
            let reason = unsafe String(cString: strerror(error))
            for end in ends + [terminal] { close(end) }
            throw Self.noTerminal(reason)
        }
        let (terminal, stop) = (terminal, wake.reading)
        let isReading = HostThread.start("connector-keys") { Self.read(terminal, until: stop, onEvent) }
        if !isReading { onEvent(.gone) }
    }

    private static func noTerminal(_ cause: String) -> ConnectorError {
        ConnectorError(.unsupported, "there is no terminal to show the console in", cause: cause)
    }

    /// Restores the terminal, and stops reading keys. Call no other method afterwards.
    func stop() async {
        await withCheckedContinuation { continuation in writing.async { continuation.resume() } }
        TerminalGuard.leave()
        for source in sources { source.cancel() }
        // The reading thread closes the other descriptors.
        close(wake.writing)
    }

    /// The size in columns and lines.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard unsafe ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Sends bytes to the terminal, on a queue that a slow terminal may block.
    ///
    /// - Returns: False if the terminal is closed.
    func write(_ bytes: [UInt8]) async -> Bool {
        guard !bytes.isEmpty else { return true }
        return await withCheckedContinuation { continuation in
            writing.async { [terminal] in continuation.resume(returning: DeviceBytes.write(bytes, to: terminal)) }
        }
    }

    /// Restores the terminal, and stops the process until the shell continues it.
    func suspend() {
        TerminalGuard.leave()
        kill(getpid(), SIGSTOP)
    }

    /// Enters full-screen mode again, since another program may have changed the terminal.
    func reenter() {
        TerminalGuard.leave()
        _ = TerminalGuard.enter(input: terminal, output: terminal, messages: messages)
    }

    private static func read(_ terminal: Int32, until stop: Int32, _ onEvent: @Sendable (Event) -> Void) {
        var parser = InputParser()
        var waiting = [
            pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        defer {
            close(terminal)
            close(stop)
        }
        while true {
            let count = unsafe poll(&waiting, 2, parser.isPending ? escapeTimeout : -1)
            if waiting[1].revents != 0 && count > 0 { return }
            if count == 0 {
                onEvent(.inputs(parser.flush()))
            } else if count > 0 {
                guard let bytes = DeviceBytes.read(terminal) else { return onEvent(.gone) }
                let inputs = parser.feed(bytes)
                if !inputs.isEmpty { onEvent(.inputs(inputs)) }
            } else if errno != EINTR {
                return onEvent(.gone)
            }
        }
    }
}
