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

        /// In a process and as a user of its own: the kernel counts those of a user, and spares root.
        @Test(.enabled(if: geteuid() == 0, "needs a user of its own"))
        func `a descriptor that has to wait for others in flight does not wait for room in the socket`() async {
            await #expect(processExitsWith: .success) {
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit(rlim_cur: 128, rlim_max: 128)
                try #require(unsafe setrlimit(resource, &limit) == 0)
                try #require(setuid(uid_t(20_000 + getpid() % 40_000)) == 0)
                var (sender, receiver): (Int32, Int32) = (-1, -1)
                try #require(unsafe runner_socket_pair(&sender, &receiver) == 0)
                var (host, runner): (Int32, Int32) = (-1, -1)
                try #require(unsafe runner_socket_pair(&host, &runner) == 0)
                var byte: UInt8 = 0
                var count: Int64 = 1
                while count > 0 { count = unsafe runner_send(sender, &byte, 1, sender, 0) }
                #expect(count == -Int64(ETOOMANYREFS))

                let outgoing = OutgoingMessages(host)
                #expect(try outgoing.send([1], host).wait == .system(ETOOMANYREFS))
                #expect(try outgoing.flush() == .system(ETOOMANYREFS))
                var descriptor: Int32 = -1
                while unsafe runner_receive(receiver, &byte, 1, &descriptor, 0) > 0 { close(descriptor) }
                #expect(try outgoing.flush() == OutgoingMessages.Wait.none)
            }
        }
    }
#endif
