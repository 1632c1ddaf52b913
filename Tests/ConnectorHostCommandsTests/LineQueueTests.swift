// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Testing

@testable import ConnectorHostCommands

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Lines for a reader who may stall.
@Suite(.timeLimit(.minutes(5))) struct LineQueueTests {
    /// A pipe whose writer waits, because it is full of dots.
    private final class FullPipe: Sendable {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            let status = unsafe pipe(&ends)
            try #require(status == 0)
            (reading, writing) = (ends[0], ends[1])
            _ = fcntl(writing, F_SETFL, O_NONBLOCK)
            let dots = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
            while unsafe write(writing, dots, dots.count) > 0 {}
            _ = fcntl(writing, F_SETFL, 0)
        }

        deinit {
            close(reading)
            close(writing)
        }

        /// The lines up to one that ends with a text, without the dots.
        func lines(until end: String) -> [Substring] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while !String(decoding: bytes, as: UTF8.self).hasSuffix(end + "\n") {
                let count = unsafe read(reading, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer.prefix(count).filter { $0 != UInt8(ascii: ".") }
            }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        }
    }

    @Test func `lines that nobody reads are dropped beyond the limit, and counted once there is room`() throws {
        let pipe = try FullPipe()
        let queue = LineQueue(to: pipe.writing, limit: 100)
        // Of 10 bytes each.
        let lines = (100..<150).map { "line \($0)x" }
        for line in lines { queue.write(line + "\n") }
        let written = pipe.lines(until: "count=40")
        #expect(Array(written.dropLast()) == lines.prefix(10).map { Substring($0) })
        #expect(written.last == "warning: log lines were dropped because the output was not being read count=40")
        queue.write("more\n")
        #expect(pipe.lines(until: "more") == ["more"])
    }

    @Test func `a line longer than the limit is written if nothing waits`() throws {
        let pipe = try FullPipe()
        let queue = LineQueue(to: pipe.writing, limit: 2)
        queue.write("long\n")
        queue.write("x\n")
        #expect(pipe.lines(until: "count=1").first == "long")
    }

    @Test func `the end of the program waits for what a reader reads, and not for one who does not read`() throws {
        let pipe = try FullPipe()
        let queue = LineQueue(to: pipe.writing)
        queue.write("line\n")
        queue.flush(within: .milliseconds(1))
        #expect(pipe.lines(until: "line") == ["line"])
        queue.write("last\n")
        queue.flush(within: .seconds(240))
        #expect(fcntl(pipe.reading, F_SETFL, O_NONBLOCK) == 0)
        #expect(pipe.lines(until: "last") == ["last"])
    }
}
