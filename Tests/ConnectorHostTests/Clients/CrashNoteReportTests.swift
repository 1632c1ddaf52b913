// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

/// How an earlier process ended becomes a report at the vendor of crash reports.
@Suite(.timeLimit(.minutes(5))) struct CrashNoteReportTests {
    private let note = #"""
        {"version": 1, "event": "SIGSEGV", "seconds": 1767225600, "process": 7, "signal": 11, "address": "0x10",
        "thread": 8, "frames": [["", "0x1a2b"], ["/usr/lib/libc.so.6", "0x3c4d"]]}
        """#

    @Test func `a note is sent once, and is then removed`() async throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        try directory.write("crash", note)
        let file = "\(directory.path)/crash"
        let test = try TestHost(TestHost.leaf("a", plugin: "deliveries", settings: #""delivery": "direct""#))
        await test.host.open()
        let crash = try test.host.crash("a")
        let receipt = try #require(try await crash.reportLastCrash(in: file))
        let sent = try JSONValue(parsing: #require(try await test.call("a", "last").string))
        #expect(sent["id"]?.string == receipt.id)
        #expect(sent["level"] == "fatal")
        #expect(sent["timestamp"] == "2026-01-01T00:00:00.000Z")
        let exception = try #require(sent["exceptions"]?.array?.first)
        #expect(exception["type"] == "SIGSEGV")
        #expect(exception["frames"]?.array?.compactMap { $0["address"]?.string } == ["0x1a2b", "0x3c4d"])
        #expect(sent["tags"]?["thread"] == "8")
        #expect(try await crash.reportLastCrash(in: file) == nil)
        await test.host.close()
    }

    @Test func `a note that could not be sent stays`() async throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        try directory.write("crash", note)
        let file = "\(directory.path)/crash"
        let test = try TestHost(TestHost.leaf("a", plugin: "deliveries", settings: #""delivery": "direct""#))
        let crash = try test.host.crash("a")
        await #expect(throws: ConnectorError.self) { try await crash.reportLastCrash(in: file) }
        #expect(CrashNote.note(in: file)?.event == "SIGSEGV")
        #expect(CrashNote.note(in: file)?.plugin == nil)
        await test.host.close()
    }

    @Test func `a damaged line table costs the report a line, and not its delivery`() throws {
        var crash = try #require(CrashNote(text: Array(note.utf8)))
        for (source, line) in [("/src/shop.c:7", 7), ("/src/shop.c:3000000000", nil)] as [(String, Int?)] {
            crash.frames[0].source = source
            let report = CrashReport(of: crash)
            try report.check(as: .exception)
            #expect(report.exceptions.first?.frames.first?.file == "/src/shop.c")
            #expect(report.exceptions.first?.frames.first?.line == line)
        }
    }

    @Test func `a note is removed only from a file that still contains it`() throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let file = "\(directory.path)/crash"
        try directory.write("crash", note)
        let earlier = try #require(CrashNote.note(in: file))
        try directory.write("crash", #"{"version": 1, "event": "SIGABRT", "seconds": 1767225600, "process": 8}"#)
        earlier.remove(from: file)
        let later = try #require(CrashNote.note(in: file))
        #expect(later.process == 8)
        later.remove(from: file)
        #expect(CrashNote.note(in: file) == nil)
    }

    @Test func `a file that is absent or of another version gives no note`() throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        try directory.write("crash", #"{"version": 2, "event": "SIGSEGV"}"#)
        #expect(CrashNote.note(in: "\(directory.path)/crash") == nil)
        #expect(CrashNote.note(in: "\(directory.path)/absent") == nil)
    }

    @Test func `a path with a NUL is that of no note`() throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        let file = "\(directory.path)/crash"
        try directory.write("crash", note)
        #expect(CrashNote.take(from: "\(file)\u{0}x") == nil)
        #expect(!CrashNote.install(file: "\(file)\u{0}x"))
        #expect(CrashNote.note(in: file)?.process == 7)
    }
}
