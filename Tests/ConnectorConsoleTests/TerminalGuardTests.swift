// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorPlatform
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A terminal that is given back while another thread draws.
@Suite(.serialized) struct TerminalGuardTests {
    /// A pair of a terminal and whoever displays it.
    private struct Pair {
        let display, terminal: Int32

        init() throws {
            var ends: (Int32, Int32) = (-1, -1)
            try #require(unsafe openpty(&ends.0, &ends.1, nil, nil, nil) == 0)
            (display, terminal) = ends
        }
    }

    @Test func `a frame that is drawn meanwhile comes before the end, and none after it`() async throws {
        for _ in 0..<20 {
            let pair = try Pair()
            let shown = Mutex<[UInt8]>([])
            let (isDrawing, hasDrawn, hasRead) = (OneShot<Void>(), OneShot<Void>(), OneShot<Void>())
            let isOver = Atomic(false)
            try #require(TerminalGuard.enter(input: pair.terminal, output: pair.terminal, messages: STDOUT_FILENO) == 0)
            let reads = HostThread.start("display") {
                var buffer = [UInt8](repeating: 0, count: 4096)
                // It ends with an error once nobody has the terminal open.
                while case let count = unsafe read(pair.display, &buffer, buffer.count), count > 0 {
                    shown.withLock { $0 += buffer[..<count] }
                    if buffer[..<count].contains(UInt8(ascii: "#")) { isDrawing.send() }
                }
                hasRead.send()
            }
            let draws = HostThread.start("frames") {
                let frame = [UInt8](repeating: UInt8(ascii: "#"), count: 1000)
                while !isOver.load(ordering: .relaxed) { _ = TerminalGuard.write(frame[...]) }
                hasDrawn.send()
            }
            try #require(reads && draws)
            await isDrawing.wait()
            TerminalGuard.leave()
            isOver.store(true, ordering: .relaxed)
            await hasDrawn.wait()
            close(pair.terminal)
            await hasRead.wait()
            close(pair.display)
            #expect(shown.withLock { $0.suffix(8).elementsEqual("\u{1B}[?1049l".utf8) })
        }
    }
}
