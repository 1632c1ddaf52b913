// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorHostTesting
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Synchronization
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorIsolation
    @testable import ConnectorPlatform

    /// A runner that is stopped, or then killed, while the host delivers events to its plugin or makes a request for it.
    @Suite(
        .timeLimit(.minutes(5)),
        .serialized,
        .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
    )
    struct RunnerStopTests {
        private static let settings =
            #""probe": "off", "isolation": "process", "sandbox": "off", "heal": {"initial": "1s", "max": "1s"}"#

        /// Ends a runner that has stopped: by a signal, or because it does not answer after a call has been late.
        private static func end(_ process: pid_t, by signal: Int32, after timeout: Duration, _ test: TestHost)
            async throws
        {
            if signal == SIGKILL {
                #expect(kill(process, SIGKILL) == 0)
                while kill(process, 0) == 0 { try await Task.checkedYield() }
            } else {
                await test.clock.advance(toTimerAfter: timeout)
                try await RunnerHangTests.missAnswer(test, of: process)
            }
            _ = await test.host.report { $0["gate"]?.crashCount == 1 }
        }

        @Test(arguments: [SIGSTOP, SIGKILL])
        func `events that a runner was being handed when it stopped are delivered in the next one`(
            _ signal: Int32
        ) async throws {
            let settings = Self.settings + #", "outbox": {"batch": {"count": 1}}"#
            let test = try await TestHost.opened(TestHost.leaf("gate", plugin: "deliveries", settings: settings))
            let process = pid_t(try #require(test.host.report.runners.first?.process))
            try await RunnerHangTests.stop(process, of: "gate", test)
            try await test.host.analytics("gate").track("Seen")
            let channel = try test.remoteChannel("gate")
            while !channel.state.withLock({ $0.pending.values.contains { $0.name.hasSuffix("deliver") } }) {
                try await Task.checkedYield()
            }
            try await Self.end(process, by: signal, after: .seconds(30), test)
            while true {
                let gate = try test.gate("gate")
                if gate.outbox?.delivered == 1 { break }
                // The clock moves between attempts of the gate or of its outbox, and not while one is made: that takes real time.
                let next = [gate.nextAttemptAt, gate.outbox?.nextAttemptAt].compactMap(\.self).max()
                if let next, next > test.clock.wallTime() { test.clock.advance(by: .seconds(1)) }
                try await Task.checkedYield()
            }
            let taken = try #require(try await test.call("gate", "taken").string)
            #expect(taken.split(separator: "\n").count { $0.contains("Seen") } == 1, "\(taken)")
            await test.host.close()
        }

        @Test(arguments: [SIGSTOP, SIGKILL])
        func `a request that the host makes for a runner ends with it`(_ signal: Int32) async throws {
            let count = Atomic(0)
            // Answers each opening, and not the call between them.
            let server = LoopbackServer { _ in count.add(1, ordering: .relaxed).newValue == 2 ? .stall : .response(200)
            }
            defer { server.stop() }
            let endpoint: JSONObject = ["endpoint": .string(server.url("/"))]
            let test = try await TestHost.opened(
                TestHost.leaf("gate", plugin: "http", endpoint, settings: Self.settings)
            )
            let process = pid_t(try #require(test.host.report.runners.first?.process))
            let call = Task {
                try await failure { () throws(ConnectorError) in
                    try await test.call("gate", "twice", options: CallOptions(timeout: .seconds(5)))
                }
            }
            while server.requests.count < 2 { try await Task.checkedYield() }
            try await RunnerHangTests.stop(process, of: "gate", test)
            try await Self.end(process, by: signal, after: .seconds(5), test)
            #expect(try await call.value.code == (signal == SIGKILL ? .crashed : .timedOut))
            while try test.gate("gate").http?.failures != 1 { try await Task.checkedYield() }
            try await RunnerHangTests.heal(test, "gate")
            try await test.call("gate", "twice")
            #expect(server.requests.count == 5)
            await test.host.close()
        }
    }
#endif
