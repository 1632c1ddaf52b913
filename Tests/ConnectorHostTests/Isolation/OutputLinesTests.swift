// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

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
        var lines = OutputLines(limit: 3)
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
        #expect(seen[3...] == ["connector-runner: 3 lines are left out, after 3 in a second", "7"])
        take("8\n9\n10\n11", at: 1_000_000_001)
        lines.finish { seen.append($0) }
        #expect(seen[5...] == ["8", "9", "connector-runner: 2 lines are left out, after 3 in a second"])
    }
}
