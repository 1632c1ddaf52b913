// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CRunner
import ConnectorBase
import Testing

@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc

    /// What waits for a runner that takes nothing, and how one ends that has closed its socket.
    @Suite final class OutgoingMessagesTests {
        /// The two ends of a socket.
        private var (host, runner): (Int32, Int32) = (-1, -1)

        init() {
            let status = unsafe runner_socket_pair(&host, &runner)
            #expect(status == 0)
        }

        deinit { for end in [host, runner] { close(end) } }

        @Test func `a full socket waits for room`() throws {
            let outgoing = OutgoingMessages(host)
            let bytes = [UInt8](repeating: 1, count: 1 << 20)
            while try outgoing.send(bytes, -1).wait != .socket {}
            #expect(try outgoing.flush() == .socket)
            outgoing.close()
        }

        /// `poll` says that there is room, and no message ever goes.
        @Test(arguments: [false, true]) func `a socket that takes nothing any more is broken`(_ hasRing: Bool) throws {
            let outgoing = OutgoingMessages(host)
            if hasRing { outgoing.use(RingWriter(try RingTests.ring())) }
            #expect(shutdown(runner, Int32(SHUT_RD)) == 0)
            #expect(try outgoing.send([1], hasRing ? host : -1).wait == .socket)
            #expect(throws: OutgoingMessages.Refusal.broken) { _ = try outgoing.flush() }
            outgoing.close()
        }
    }
#endif

/// What is believed of a runner's end.
@Suite struct RunnerEndTests {
    @Test(
        arguments: [
            ("SIGSEGV", 0, 11, true), ("SIGSEGV", 139, 0, true), ("SIGSEGV", 0, 9, false), ("SIGSEGV", 1, 0, false),
            ("SIGABRT", 0, 11, false), ("exit", 70, 0, true), ("exit", 0, 11, false),
        ] as [(String, Int32, Int32, Bool)]
    )
    func `a note counts if it is of this end`(_ event: String, _ status: Int32, _ signal: Int32, _ fits: Bool) throws {
        let note = try #require(CrashNote(text: Array(#"{"version": 1, "event": "\#(event)", "seconds": 0}"#.utf8)))
        var end = RunnerEnd()
        (end.status, end.signal) = (status, signal)
        #expect(end.fits(note) == fits)
        #expect(end.fits(nil))
    }
}
