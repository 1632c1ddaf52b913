// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorIsolation
@testable import ConnectorPlatform

/// Which crash notes are believed about a runner's end.
@Suite struct RunnerEndTests {
    @Test(
        arguments: [
            ("SIGSEGV", 0, 11, true), ("SIGSEGV", 139, 0, true), ("SIGSEGV", 0, 9, false), ("SIGSEGV", 1, 0, false),
            ("SIGABRT", 0, 11, false), ("exit", 70, 0, true), ("exit", 0, 11, false),
        ] as [(String, Int32, Int32, Bool)]
    )
    func `a note counts only if it fits how the runner ended`(
        _ event: String,
        _ status: Int32,
        _ signal: Int32,
        _ fits: Bool
    ) throws {
        let note = try #require(CrashNote(text: Array(#"{"version": 1, "event": "\#(event)", "seconds": 0}"#.utf8)))
        var end = RunnerEnd()
        (end.status, end.signal) = (status, signal)
        #expect(end.fits(note) == fits)
        #expect(end.fits(nil))
    }
}
