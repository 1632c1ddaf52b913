// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorConsole
import ConnectorHost
import ConnectorPlatform
import Synchronization
import Testing

@testable import ConnectorConsoleTerminal

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A terminal that is given back, and used by nobody afterwards.
@Suite(.serialized, .timeLimit(.minutes(2))) struct TerminalGuardTests {
    /// A terminal, and the end that displays it.
    private struct Pair {
        let display, terminal: Int32
        /// The path of the terminal.
        let path: String

        init() throws {
            var ends: (Int32, Int32) = (-1, -1)
            try #require(unsafe openpty(&ends.0, &ends.1, nil, nil, nil) == 0)
            (display, terminal) = ends
            path = unsafe String(cString: ttyname(terminal))
        }

        /// Reads what the terminal shows until nobody has it open.
        ///
        /// - Parameter onRead: Called on a thread of its own.
        func follow(_ onRead: @escaping @Sendable (ArraySlice<UInt8>) -> Void) throws -> OneShot<Void> {
            let hasEnded = OneShot<Void>()
            let isReading = HostThread.start("display") { [display] in
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = unsafe read(display, &buffer, buffer.count), count > 0 {
                    onRead(buffer[..<count])
                }
                hasEnded.send()
            }
            try #require(isReading)
            return hasEnded
        }
    }

    /// The model of a console that counts its snapshots.
    private final class CountingModel: ConsoleModel {
        let count = Mutex(0)
        let isShown = OneShot<Void>()

        func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
            count.withLock { $0 += 1 }
            isShown.send()
            return ConsoleSnapshot()
        }
    }

    private static let leaving = Array("\u{1B}[?1049l".utf8)

    @Test func `a frame drawn while the terminal is given back comes before the end, and none after it`() async throws {
        for _ in 0..<20 {
            let pair = try Pair()
            let shown = Mutex<[UInt8]>([])
            let (isDrawing, hasDrawn) = (OneShot<Void>(), OneShot<Void>())
            let isOver = Atomic(false)
            try #require(TerminalGuard.enter(input: pair.terminal, output: pair.terminal, messages: STDOUT_FILENO) == 0)
            let hasRead = try pair.follow { bytes in
                shown.withLock { $0 += bytes }
                if bytes.contains(UInt8(ascii: "#")) { isDrawing.send() }
            }
            let draws = HostThread.start("frames") {
                let frame = [UInt8](repeating: UInt8(ascii: "#"), count: 1000)
                while !isOver.load(ordering: .relaxed) { _ = TerminalGuard.write(frame[...]) }
                hasDrawn.send()
            }
            try #require(draws)
            await isDrawing.wait()
            TerminalGuard.leave()
            isOver.store(true, ordering: .relaxed)
            await hasDrawn.wait()
            close(pair.terminal)
            await hasRead.wait()
            close(pair.display)
            #expect(shown.withLock { $0.suffix(8).elementsEqual(Self.leaving) })
        }
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, 0])
    func `a signal that nobody handles, or exit, gives the terminal back before it ends the process`(
        _ number: Int32
    ) async throws {
        let pair = try Pair()
        let shown = Mutex<[UInt8]>([])
        let hasRead = try pair.follow { bytes in shown.withLock { $0 += bytes } }
        let (path, end): (String, ExitTest.Condition) = (pair.path, number == 0 ? .exitCode(7) : .signal(number))
        await #expect(processExitsWith: end) { [number, path = path as String] in
            let terminal = unsafe open(path, O_RDWR | O_NOCTTY)
            try #require(TerminalGuard.enter(input: terminal, output: terminal, messages: STDOUT_FILENO) == 0)
            guard number != 0 else { exit(7) }
            kill(getpid(), number)
            // Another thread may receive it.
            while true { pause() }
        }
        var modes = termios()
        #expect(unsafe tcgetattr(pair.terminal, &modes) == 0)
        #expect(modes.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == tcflag_t(ECHO | ICANON | ISIG))
        close(pair.terminal)
        await hasRead.wait()
        close(pair.display)
        #expect(shown.withLock { $0.suffix(8).elementsEqual(Self.leaving) })
    }

    @Test func `files opened once the terminal is gone get nothing that was meant for it`() async throws {
        let pair = try Pair()
        let isGone = OneShot<Void>()
        let device = try TerminalDevice(pair.path, messages: STDOUT_FILENO) { event in
            if case .gone = event { isGone.send() }
        }
        for end in [pair.terminal, pair.display] { close(end) }
        await isGone.wait()
        // They reuse the descriptors of whatever has been closed.
        let files = (0..<64).map { _ in
            var name = "/tmp/connector-host-terminal-XXXXXX".utf8CString.map(\.self)
            let file = unsafe mkstemp(&name)
            unsafe unlink(name)
            return file
        }
        await device.stop()
        for file in files {
            #expect(lseek(file, 0, SEEK_END) == 0)
            close(file)
        }
    }

    /// A model that stops its terminal before the console first draws.
    private struct StallingModel: ConsoleModel {
        let terminal: Int32
        let isStalled: OneShot<Void>

        func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
            tcflow(terminal, TCOOFF)
            isStalled.send()
            return ConsoleSnapshot()
        }
    }

    /// In a process of its own, whose output nobody else needs.
    @Test func `a console whose terminal accepts nothing ends when it is cancelled, and restores the modes`() async {
        await #expect(processExitsWith: .success) {
            let pair = try Pair()
            let model = StallingModel(terminal: pair.terminal, isStalled: OneShot())
            let console = Task {
                let options = TerminalConsole.Options(
                    route: Route(["none"]),
                    registry: .componentsAlone,
                    environment: Configuration.Environment(["TERM": "xterm"])
                )
                try await ConsoleLoop.run(model, options, on: pair.path)
            }
            await model.isStalled.wait()
            console.cancel()
            try await console.value
            var modes = termios()
            #expect(unsafe tcgetattr(pair.terminal, &modes) == 0)
            #expect(modes.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == tcflag_t(ECHO | ICANON | ISIG))
        }
    }

    /// In a process of its own, whose output nobody else needs.
    @Test func `a flood of output takes no more snapshots than the interval allows`() async {
        await #expect(processExitsWith: .success) {
            let pair = try Pair()
            let hasRead = try pair.follow { _ in }
            let model = CountingModel()
            let clock = ContinuousClock()
            let start = clock.now
            let console = Task {
                let options = TerminalConsole.Options(
                    route: Route(["none"]),
                    registry: .componentsAlone,
                    environment: Configuration.Environment(["TERM": "xterm"])
                )
                try await ConsoleLoop.run(model, options, on: pair.path)
            }
            await model.isShown.wait()
            let hasWritten = OneShot<Void>()
            let writes = HostThread.start("flood") {
                let line = Array("a line of a plugin\n".utf8)
                while clock.now - start < .milliseconds(500) { _ = unsafe write(STDOUT_FILENO, line, line.count) }
                hasWritten.send()
            }
            try #require(writes)
            await hasWritten.wait()
            console.cancel()
            try await console.value
            let most = Int((clock.now - start) / .milliseconds(100)) + 3
            #expect(model.count.withLock(\.self) <= most)
            close(pair.terminal)
            await hasRead.wait()
        }
    }
}
