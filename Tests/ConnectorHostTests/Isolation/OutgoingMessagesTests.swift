// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CRunner
import ConnectorBase
import Testing

@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc

    /// Messages for a runner that takes nothing, and for one that has closed its socket.
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

        /// `poll` says that there is room, but no message is ever taken.
        @Test(arguments: [false, true]) func `a socket that no longer takes anything is broken`(_ hasRing: Bool) throws
        {
            let outgoing = OutgoingMessages(host)
            if hasRing { outgoing.use(RingWriter(try RingTests.ring())) }
            #expect(shutdown(runner, Int32(SHUT_RD)) == 0)
            #expect(try outgoing.send([1], hasRing ? host : -1).wait == .socket)
            #expect(throws: OutgoingMessages.Refusal.broken) { _ = try outgoing.flush() }
            outgoing.close()
        }
    }
#endif
