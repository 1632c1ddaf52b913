// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorTestSupport
import Testing

@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the host takes of the lines that a runner prints.
@Suite struct OutputLinesTests {
    @Test func `so many lines of a second are passed on, and the others are counted`() throws {
        let pipe = try Pipe(blocks: false)
        defer { pipe.close() }
        var lines = OutputLines(limit: LineLimit(lines: 3, bytes: 12))
        let limit = "the limit is 3 lines and 12 bytes a second"
        var seen: [String] = []
        func take(_ text: String, at time: UInt64) {
            let bytes = Array(text.utf8)
            let count = unsafe write(pipe.writing, bytes, bytes.count)
            #expect(count == bytes.count)
            lines.read(pipe.reading, at: time) { seen.append($0) }
        }
        take("1\n2\n3\n4\n5\n", at: 0)
        #expect(seen == ["1", "2", "3"])
        // The last lines stand in the error of a crash.
        #expect(lines.last == ["1", "2", "3", "4", "5"])
        take("6\n", at: 999_999_999)
        #expect(seen.count == 3)
        take("7\n", at: 1_000_000_000)
        #expect(seen[3...] == ["connector-runner: 3 lines are left out: \(limit)", "7"])
        take("8\n9\n10\n11", at: 1_000_000_001)
        lines.finish(at: 1_000_000_001) { seen.append($0) }
        #expect(seen[5...] == ["8", "9", "connector-runner: 2 lines are left out: \(limit)"])
    }

    @Test func `a few long lines use up a second, too`() throws {
        let pipe = try Pipe(blocks: false)
        defer { pipe.close() }
        let text = ["123456", "7890", "1", "2"].map { $0 + "\n" }.joined()
        let count = unsafe write(pipe.writing, Array(text.utf8), text.utf8.count)
        #expect(count == text.utf8.count)
        var lines = OutputLines(limit: LineLimit(lines: 100, bytes: 10))
        var seen: [String] = []
        lines.read(pipe.reading, at: 0) { seen.append($0) }
        #expect(seen == ["123456", "7890"])
        lines.finish(at: 0) { seen.append($0) }
        #expect(seen.last == "connector-runner: 2 lines are left out: the limit is 100 lines and 10 bytes a second")
    }

    @Test func `what Swift's runtime says before a stack trace stays among the last lines`() throws {
        let pipe = try Pipe(blocks: false)
        defer { pipe.close() }
        let fault = "Fatal error: failed to allocate 20000032 bytes of memory with alignment 16"
        let trace = (0..<46).map { "\($0)    libc.so.6  0x00007f0000000000 start_thread + \($0)" }
        let text = (["before", fault, "Current stack trace:"] + trace + ["after"]).map { $0 + "\n" }.joined()
        let count = unsafe write(pipe.writing, Array(text.utf8), text.utf8.count)
        #expect(count == text.utf8.count)
        var lines = OutputLines()
        var seen = 0
        lines.read(pipe.reading, at: 0) { _ in seen += 1 }
        #expect(seen == 50, "the log has all of them")
        #expect(lines.last == ["before", fault, "after"])
    }
}
