// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Which crash notes are believed about a runner's end, and what is said of its calls.
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

    @Test func `an end that nobody knows is no status, and the note may tell of it`() throws {
        var end = RunnerEnd()
        #expect(end.description == "how it ended is not known")
        #expect(end.loss(of: "shop 1.2.0", during: "").fix == nil)
        end.unknown = SystemError(EPERM)
        #expect(end.description == "how it ended is not known (\(SystemError(EPERM).text))")
        #expect(end.loss(of: "shop 1.2.0", during: "").fix == nil)
        end.unknown = SystemError(ECHILD)
        #expect(end.loss(of: "shop 1.2.0", during: "").fix == ChildProcess.unknownEndRemedy)
        let note = try #require(CrashNote(text: Array(#"{"version": 1, "event": "SIGSEGV", "seconds": 0}"#.utf8)))
        #expect(end.fits(note))
        end.note = note
        #expect(end.description.contains("SIGSEGV"), "\(end.description)")
        #expect(end.remedy == nil)
    }

    @Test func `a runner without a thread names the limits to raise`() {
        var end = RunnerEnd()
        end.status = RunnerEnd.withoutThread
        #expect(end.description == "the system has no thread, or no descriptor, for it")
        #expect(end.remedy?.contains("ulimit -u") == true && end.remedy?.contains("ulimit -n") == true)
    }

    @Test(
        arguments: [
            (.no, false, true, "the call was not sent"), (.yes, false, false, "the call was sent"),
            (.yes, true, true, "the call was sent"), (.unknown, false, false, "whether the call was sent is not known"),
            (.unknown, true, true, "whether the call was sent is not known"),
        ] as [(ConnectorError.Sending, Bool, Bool, String)]
    )
    func `a call that may have taken effect is retryable only if it may be made twice, and says so in JSON`(
        _ sending: ConnectorError.Sending,
        _ isRepeatable: Bool,
        _ isRetryable: Bool,
        _ text: String
    ) {
        let error = RunnerEnd().error("send", plugin: "shop 1.2.0", sending: sending, isRepeatable: isRepeatable)
        #expect(error.code == .crashed && error.sending == sending && error.isRetryable == isRetryable)
        #expect(error.message.contains(text), "\(error)")
        #expect(error.json["sent"] == .string(sending.rawValue))
        #expect((error.json["retryable"] == true) == isRetryable)
        #expect(ConnectorError(.failed, "it failed").json["sent"] == nil)
    }

    @Test(arguments: [(nil, .unknown), (5, .yes), (6, .no)] as [(UInt64?, ConnectorError.Sending)])
    func `a message was sent if the runner has counted it, which nobody can say of one without a number`(
        _ message: UInt64?,
        _ sending: ConnectorError.Sending
    ) {
        #expect(RemoteChannel.sending(of: message, taken: 5) == sending)
    }

    @Test(arguments: [
        ("Swift/x.swift:1: Fatal error: failed to allocate 32 bytes of memory with alignment 16", true),
        ("memory allocation of 32 bytes failed", true),
        ("terminate called after throwing an instance of 'std::bad_alloc'", true),
        ("Fatal error: Index out of range", false),
    ])
    func `a runtime that could not allocate memory is recognised by what it prints`(_ line: String, _ lacks: Bool) {
        var end = RunnerEnd()
        end.lines = ["a line of the plugin", line]
        end.signal = 6
        #expect(end.lacksMemory == lacks)
        (end.status, end.signal) = (128 + 4, 0)
        #expect(end.lacksMemory == lacks)
        // A plugin that has caught the failure, and crashed later.
        (end.status, end.signal) = (0, 11)
        #expect(!end.lacksMemory)
        end.signal = 6
        end.reason = "the host has ended it"
        #expect(!end.lacksMemory)
    }
}
