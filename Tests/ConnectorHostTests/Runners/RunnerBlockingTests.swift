// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorBase
    import ConnectorHostTesting
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Logging
    import Synchronization
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorInvocation
    @testable import ConnectorIsolation
    @testable import ConnectorPlatform

    /// A plugin that blocks keeps its runner's threads until its gate closes, or the runner ends.
    @Suite(
        .timeLimit(.minutes(5)),
        .serialized,
        .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
    )
    struct RunnerBlockingTests {
        /// Threads that calls may block.
        private let threads = WorkerThreads()

        /// Lets an operation of a gate block a thread of its runner past its deadline.
        private static func block(_ test: TestHost, _ path: String, _ operation: String = "hold") async throws {
            async let answer = failure { () throws(ConnectorError) in
                try await test.call(path, operation, options: CallOptions(timeout: .seconds(1)))
            }
            while try await test.call(path, "held") != 1 { try await Task.checkedYield() }
            await test.clock.advance(toTimerAfter: .seconds(1))
            let error = try await answer
            #expect(error.code == .timedOut)
            #expect(error.message.hasPrefix("\(operation) did not return within"), "\(error)")
            #expect(error.fix?.contains("(blocks_\(operation)) still holds a thread of its runner") == true, "\(error)")
            _ = await test.host.report { $0[path]?.misbehaviourCount == 1 }
        }

        @Test(arguments: ["hold", "begin"])
        func `a gate does not wait for an operation that blocks in a runner, and the log names the operation`(
            operation: String
        ) async throws {
            let lines = Journal<String>()
            let settings = #""probe": "off", "isolation": "process", "timeout": "1h""#
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "blocks", settings: settings),
                logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
            )
            #expect(await test.host.open().isReady)
            try await Self.block(test, "gate", operation)
            let closing = Task { await test.host.close() }
            await test.clock.advance(toTimerAfter: .milliseconds(250))
            await closing.value
            #expect(lines.values.contains("\(operation) (blocks_\(operation))"), "\(lines.values)")
        }

        @Test func `a destroy that blocks in a runner is named`() async throws {
            let lines = Journal<String>()
            let settings = #""probe": "off", "isolation": "process", "timeout": "7s""#
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "crashes", ["destroys": "block"], settings: settings),
                logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
            )
            #expect(await test.host.open().isReady)
            let generations = test.host.dependencies.generations
            let closing = Task { await test.host.close() }
            while !generations.functionsInside.contains(where: { $0.text.hasPrefix("destroy of ") }) {
                try await Task.checkedYield()
            }
            try await test.advance(by: .milliseconds(250)) { await closing.value }
            #expect(lines.values.contains("destroy"), "\(lines.values)")
        }

        @Test func `a gate that closes does not wait for a function that blocks its runner only later`() async throws {
            let settings = #""probe": "off", "isolation": "process", "timeout": "1h""#
            let test = try await TestHost.opened(
                TestHost.leaf("gate", plugin: "crashes", ["destroys": "block"], settings: settings)
            )
            let channel = try test.remoteChannel("gate")
            let closing = Task { await test.host.close() }
            while !channel.functionsInside.contains(where: { $0.name == "destroy" }) { try await Task.checkedYield() }
            let begin = test.clock.now()
            await test.clock.advance(toTimerAfter: .milliseconds(250))
            // The gate has found nothing but `destroy`, and waits on.
            await test.clock.timers(atLeast: 1)
            channel.state.withLock { $0.lifeCycle.append(PluginFunction("cancel")) }
            try await test.advance(by: .milliseconds(250)) { await closing.value }
            #expect(test.clock.now() - begin <= 1_000_000_000)
        }

        @Test func `the runner of a plugin that blocks ends with its gate`() async throws {
            let test = try await TestHost.opened(
                TestHost.leaf("gate", plugin: "blocks", settings: #""probe": "off", "isolation": "process""#)
            )
            let process = pid_t(try #require(test.host.report.runners.first?.process))
            try await Self.block(test, "gate")
            let closing = Task { await test.host.close() }
            try await RunnerHangTests.advance(test) { kill(process, 0) == -1 }
            await closing.value
        }

        @Test func `attempts that block threads of a runner that others use are limited, until it ends`() async throws {
            let settings =
                #""probe": "off", "isolation": "process", "runner": "mine", "sandbox": "off", "timeout": "1s""#
            let test = try TestHost(
                TestHost.leaf("stuck", ["opens": "blocks"], settings: settings),
                TestHost.leaf("other", plugin: "crashes", settings: settings)
            )
            let gate = try #require(test.host.current.tree["stuck"]?.gate)
            /// The instance that opens, once the runner has taken the message that opens it.
            func blocked() -> Generation? {
                guard let generation = gate.storage.withLock({ $0.opening }) else { return nil }
                let channel = generation.state.withLock { $0.remoteChannel }
                return channel?.functionsInside.contains { $0.name == "open" } == true ? generation : nil
            }
            /// Opens the gate, and lets its time pass once its function blocks a thread, or is about to, until the instance has ended.
            func attempt() async throws -> ConnectorError {
                let opening = Task { try await test.host.open("stuck") }
                var generation = blocked()
                while generation == nil {
                    try await Task.checkedYield()
                    generation = blocked()
                }
                try await test.advance(by: .milliseconds(250)) { [generation] in
                    _ = try? await opening.value
                    await generation?.ended.wait()
                }
                return try #require(try await opening.value["stuck"]?.error)
            }
            #expect(try await test.host.open("other")["other"]?.state == .open)
            let runner = try test.remoteChannel("other").runner
            // An attempt whose function was not entered in time blocks nothing.
            while runner.leftCount(of: "stuck") < Runner.leftLimit { #expect(try await attempt().code == .timedOut) }
            let error = try #require(try await test.host.open("stuck")["stuck"]?.error)
            #expect(error.code == .unavailable, "\(error)")
            #expect(error.message.hasPrefix("\(Runner.leftLimit) earlier instances of the connector"), "\(error)")
            #expect(error.fix?.hasSuffix("once these connectors are closed: other") == true, "\(error)")
            try await test.host.close("other")
            while !test.host.dependencies.runners.runners.isEmpty { try await Task.checkedYield() }
            #expect(try await attempt().code == .timedOut)
            await test.host.close()
        }

        @Test func `a plugin that blocks is left behind in a runner that others use`() async throws {
            let lines = Journal<String>()
            let settings = #""probe": "off", "isolation": "process", "runner": "mine", "sandbox": "off""#
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "blocks", settings: settings),
                TestHost.leaf("other", plugin: "crashes", settings: settings),
                logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
            )
            #expect(await test.host.open().isReady)
            let runner = try test.remoteChannel("other").runner
            try await Self.block(test, "gate")
            try await Self.closeGate(test, asking: "process")
            #expect(runner.leftCount(of: "gate") == 1)
            #expect(
                lines.values.contains(
                    "plugin blocks a thread of its runner, which is ended unless other connectors use it"
                )
            )
            try await test.host.open("gate")
            #expect(try await test.call("gate", "release") == 1)
            #expect(test.host.report.runners.map(\.connectors) == [["gate", "other"]])
            // What returns after all is destroyed, and no longer counts.
            while runner.leftCount(of: "gate") > 0 { try await Task.checkedYield() }
            await test.host.close()
        }

        @Test func `an instance that a caller in a lane outlasts is destroyed in its runner once the function returns`()
            async throws
        {
            let settings = #""probe": "off", "isolation": "process", "sandbox": "off", "timeout": "1s""#
            let test = try await TestHost.opened(
                TestHost.leaf("gate", plugin: "blocks", settings: settings),
                TestHost.leaf("other", plugin: "blocks", settings: settings)
            )
            let runner = try test.remoteChannel("other").runner
            let gate = try test.host.gate("gate")
            let call = Task(executorPreference: threads) {
                try await gate.withPrepared("hold") { hold throws(ConnectorError) in
                    try hold()
                    return try hold.integer()
                }
            }
            while try await test.call("other", "held") != 1 { try await Task.checkedYield() }
            try await Self.closeGate(test, asking: "held")
            #expect(runner.leftCount(of: "gate") == 1)
            #expect(try await test.call("other", "release") == 1)
            #expect(try await call.value == 1)
            while runner.leftCount(of: "gate") > 0 { try await Task.checkedYield() }
            await test.host.close()
        }

        /// Closes `gate`, whose runner carries `other`, too.
        ///
        /// - Parameter operation: What `other` is asked after each step: time that a test moves is no reason to think that it hangs.
        private static func closeGate(_ test: TestHost, asking operation: String) async throws {
            let closing = Task { try await test.host.close("gate") }
            while test.state("gate") != .closed {
                test.clock.advance(by: .milliseconds(100))
                _ = try await test.call("other", operation)
            }
            try await closing.value
        }

        /// With the system's clock: the host waits for `create` in its time.
        @Test func `a create that blocks a runner that others use is limited like an opening`() async throws {
            let settings = RunnerCallTests.numbered + #", "runner": "mine""#
            let stuck = TestHost.leaf(
                "stuck",
                plugin: "blocks-in-life",
                ["where": "create"],
                settings: settings + #", "timeout": "1s""#
            )
            let host = try ConnectorHost.testing(
                "[\(stuck), \(TestHost.leaf("other", plugin: "crashes", settings: settings))]",
                plugins: [Fixtures.misbehaving("blocks-in-life"), Fixtures.contract("crashes")],
                clock: SystemHostClock()
            )
            try await host.open("other")
            let runner = try host.remoteChannel("other").runner
            while runner.leftCount(of: "stuck") == 0 {
                #expect(try await host.open("stuck")["stuck"]?.error?.code == .timedOut)
            }
            // As if that had been so often enough.
            runner.state.withLock { state in
                for number in 1..<UInt32(Runner.leftLimit) { state.left[.max - number] = "stuck" }
            }
            let error = try #require(try await host.open("stuck")["stuck"]?.error)
            #expect(error.code == .unavailable, "\(error)")
            #expect(error.message.hasSuffix("of the connector still block threads of the runner mine"), "\(error)")
            let process = try await host.gate("other").call("process")
            #expect(process == .integer(Int64(runner.processNumber)))
            try await host.close("other")
            await runner.ended.wait()
            #expect(try await host.open("stuck")["stuck"]?.error?.code == .timedOut)
            await host.close()
        }
    }
#endif
