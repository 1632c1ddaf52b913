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

    /// What becomes of calls and phases whose deadlines pass in a runner: which are made, what their errors say, and who is blamed.
    @Suite(
        .timeLimit(.minutes(5)),
        .serialized,
        .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
    )
    struct RunnerDeadlineTests {
        /// Threads that calls may block.
        private let threads = WorkerThreads()

        /// Longer than any test: a runner tells the time by the system's clock, and makes no call whose deadline has passed.
        private static let patience = Duration.seconds(1000)

        private static func leaf(_ plugin: String, _ settings: String = #", "probe": "off""#) -> String {
            let common = #""isolation": "process", "sandbox": "off", "heal": {"initial": "1s", "max": "1s"}"#
            return TestHost.leaf("gate", plugin: plugin, settings: "\(common)\(settings)")
        }

        /// The process of the runner of `gate`.
        private static func process(_ test: TestHost) throws -> pid_t {
            pid_t(try #require(test.host.report.runners.first?.process))
        }

        /// The error of a call of `gate` with so much time.
        private static func failing(
            _ test: TestHost,
            _ operation: String,
            _ arguments: JSONObject = [:],
            within timeout: Duration
        ) -> Task<ConnectorError, any Error> {
            Task {
                try await failure { () throws(ConnectorError) in
                    try await test.call("gate", operation, arguments, options: CallOptions(timeout: timeout))
                }
            }
        }

        /// Makes a call of `gate` in a lane, which needs none of the threads.
        private static func callInLane(_ test: TestHost, _ operation: String) async throws -> Int64 {
            try await test.host.gate("gate").withPrepared(operation) { call throws(ConnectorError) in
                try call()
                return try call.integer()
            }
        }

        /// Lets calls hold all the threads of the plugin `blocks`, and one more wait for a thread.
        private static func holdAll(_ test: TestHost, within timeout: Duration) async throws
            -> [Task<ConnectorError, any Error>]
        {
            let channel = try test.remoteChannel("gate")
            let calls = (0...CallThreads.limit).map { _ in failing(test, "hold", within: timeout) }
            while try await callInLane(test, "held") != CallThreads.limit { try await Task.checkedYield() }
            while channel.state.withLock({ state in state.pending.values.count { $0.wait == .thread } }) != 1 {
                try await Task.checkedYield()
            }
            await test.clock.timers(atLeast: calls.count, dueAfter: timeout)
            return calls
        }

        /// Lets the deadlines of calls pass that hold all the threads of the plugin `blocks`, and of one that waits for a thread.
        ///
        /// - Returns: Their errors.
        private static func loseAll(_ test: TestHost) async throws -> [ConnectorError] {
            let channel = try test.remoteChannel("gate")
            let calls = try await holdAll(test, within: patience)
            await test.clock.advance(toTimerAfter: patience)
            var errors: [ConnectorError] = []
            for call in calls { errors.append(try await call.value) }
            // Calls in lanes overtake messages: until the runner has given up the call that waits, its function could still be entered.
            while channel.functionsInside.count != CallThreads.limit { try await Task.checkedYield() }
            _ = await test.host.report { $0["gate"]?.misbehaviourCount == CallThreads.limit }
            return errors
        }

        // MARK: Calls that are given up

        /// With the system's clock: host and runner tell the same time by it.
        @Test func `a call that its stopped runner has not taken by its deadline is never made`() async throws {
            let host = try ConnectorHost.testing(
                "[\(Self.leaf("crashes"))]",
                plugins: [Fixtures.contract("crashes")],
                clock: SystemHostClock()
            )
            #expect(await host.open().isReady)
            let gate = try host.gate("gate")
            let process = pid_t(try #require(host.report.runners.first?.process))
            #expect(kill(process, SIGSTOP) == 0)
            try await awaitStop(of: process)
            let error = try await failure { () throws(ConnectorError) in
                try await gate.call("judge", ["status": 0], options: CallOptions(timeout: .milliseconds(100)))
            }
            #expect(error.message.hasPrefix("judge did not begin within"), "\(error)")
            #expect(kill(process, SIGCONT) == 0)
            let judged = try await gate.call("judged")
            #expect(judged == 0)
            await host.close()
        }

        @Test func `a call in a lane that its stopped runner has not taken by its deadline is never made`() async throws
        {
            let test = try await TestHost.opened(Self.leaf("blocks"))
            let gate = try test.host.gate("gate")
            try await gate.withPrepared("held") { prepared throws(ConnectorError) in try prepared() }
            let process = try Self.process(test)
            try await RunnerHangTests.stop(process, of: "gate", test)
            let call = Task(executorPreference: threads) {
                try await failure { () throws(ConnectorError) in
                    try await gate.withPrepared("hold") { prepared throws(ConnectorError) in try prepared() }
                }
            }
            let wait = Duration.nanoseconds(Int64(CallOptions().timeoutNanoseconds - LaneStream.briefly))
            await test.clock.advance(toTimerAfter: wait)
            let error = try await call.value
            #expect(error.message.hasPrefix("hold did not begin within"), "\(error)")
            #expect(kill(process, SIGCONT) == 0)
            #expect(try await test.call("gate", "held") == 0)
            await test.host.close()
        }

        // MARK: Calls without a thread

        @Test func `a call that finds no thread in its runner did not begin, and its plugin is not blamed`()
            async throws
        {
            let test = try await TestHost.opened(Self.leaf("blocks"))
            let channel = try test.remoteChannel("gate")
            let process = try Self.process(test)
            let holding = try await Self.holdAll(test, within: Self.patience)
            let call = Self.failing(test, "pass", within: .seconds(1))
            while !channel.state.withLock({ state in
                state.pending.values.contains { $0.name == "pass" && $0.wait == .thread }
            }) {
                try await Task.checkedYield()
            }
            await test.clock.advance(toTimerAfter: .seconds(1))
            let error = try await call.value
            #expect(error.message.hasPrefix("pass did not begin within"), "\(error)")
            #expect(error.cause == "no thread was free for it" && error.fix == nil, "\(error)")
            #expect(try test.gate("gate").misbehaviourCount == 0)
            #expect(kill(process, SIGKILL) == 0)
            var errors: [ConnectorError] = []
            for call in holding { errors.append(try await call.value) }
            #expect(errors.count { $0.sending == .yes } == CallThreads.limit)
            #expect(errors.count { $0.sending == .no } == 1)
            await test.host.close()
        }

        @Test func `a runner all of whose threads for a gate are lost is ended, and the gate heals in another one`()
            async throws
        {
            let test = try await TestHost.opened(Self.leaf("blocks"))
            let runner = try test.remoteChannel("gate").runner
            let errors = try await Self.loseAll(test)
            #expect(errors.count { $0.message.hasPrefix("hold did not begin within") } == 1)
            while runner.isAlive {
                if !test.isAskingRunners { test.clock.advance(by: .milliseconds(500)) }
                try await Task.checkedYield()
            }
            await runner.ended.wait()
            let exhaustion = CallThreads.exhausted(CallThreads.limit, by: PluginFunction("hold"))
            #expect(runner.end?.description == exhaustion.message)
            try await RunnerHangTests.heal(test, "gate")
            #expect(try await test.call("gate", "pass") == 2)
            #expect(try test.gate("gate").crashCount == 1)
            await test.host.close()
        }

        @Test func `an exhausted instance is left in a runner that others use, and the gate heals there`()
            async throws
        {
            let settings = #", "probe": "off", "runner": "mine""#
            let other = #""isolation": "process", "sandbox": "off""# + settings
            let test = try await TestHost.opened(
                Self.leaf("blocks", settings),
                TestHost.leaf("other", plugin: "crashes", settings: other)
            )
            let runner = try test.remoteChannel("gate").runner
            _ = try await Self.loseAll(test)
            while try test.gate("gate").crashCount == 0 {
                if !test.isAskingRunners { test.clock.advance(by: .milliseconds(500)) }
                try await Task.checkedYield()
            }
            try await RunnerHangTests.heal(test, "gate")
            #expect(try test.remoteChannel("gate").runner === runner)
            while runner.leftCount(of: "gate") == 0 {
                if !test.isAskingRunners { test.clock.advance(by: .milliseconds(250)) }
                try await Task.checkedYield()
            }
            #expect(try await test.call("gate", "release") == .integer(Int64(CallThreads.limit)))
            while runner.leftCount(of: "gate") > 0 { try await Task.checkedYield() }
            await test.host.close()
        }

        @Test func `late functions that return are not lost, although others hold all the threads soon after`()
            async throws
        {
            let test = try await TestHost.opened(Self.leaf("blocks"))
            let channel = try test.remoteChannel("gate")
            _ = try await Self.loseAll(test)
            #expect(try await Self.callInLane(test, "release") == CallThreads.limit)
            while !channel.functionsInside.isEmpty || test.isAskingRunners { try await Task.checkedYield() }
            // As if as many others were late by now.
            var function = PluginFunction("hold")
            function.isOverdue = true
            channel.state.withLock { [function] state in
                for id in 1...UInt64(CallThreads.limit) { state.inside[.max - id] = function }
            }
            test.clock.advance(by: .seconds(30))
            try await test.host.dependencies.calls.cancelThreads.result { () throws(ConnectorError) in }
            #expect(channel.runner.isAlive)
            channel.state.withLock { $0.inside = [:] }
            #expect(try await test.call("gate", "pass") == 2)
            #expect(try test.gate("gate").crashCount == 0)
            await test.host.close()
        }

        @Test func `a function that is entered just as its waiting call is given up is known to run`()
            async throws
        {
            let test = try await TestHost.opened(Self.leaf("blocks"))
            let channel = try test.remoteChannel("gate")
            let call = Self.failing(test, "hold", within: Self.patience)
            while try await Self.callInLane(test, "held") != 1 { try await Task.checkedYield() }
            await test.clock.timer(dueAfter: Self.patience)
            // As if the runner's word that the call no longer waits were on its way.
            channel.state.withLock { state in
                for id in Array(state.pending.keys) { state.pending[id]?.wait = .thread }
            }
            await test.clock.advance(toTimerAfter: Self.patience)
            let error = try await call.value
            #expect(error.message.hasPrefix("hold did not begin within"), "\(error)")
            while test.isAskingRunners { try await Task.checkedYield() }
            #expect(channel.functionsInside.map(\.name) == ["hold"])
            #expect(try test.gate("gate").misbehaviourCount == 0)
            await test.clock.advance(toTimerAfter: .seconds(2))
            _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
            #expect(try await Self.callInLane(test, "release") == 1)
            while !channel.functionsInside.isEmpty { try await Task.checkedYield() }
            await test.host.close()
        }

        @Test func `a function that still runs at the deadline of its cancelled call is misbehaviour`() async throws {
            let test = try await TestHost.opened(Self.leaf("blocks"))
            let channel = try test.remoteChannel("gate")
            let call = Self.failing(test, "hold", within: Self.patience)
            while try await test.call("gate", "held") != 1 { try await Task.checkedYield() }
            call.cancel()
            #expect(try await call.value.code == .cancelled)
            #expect(try test.gate("gate").misbehaviourCount == 0)
            await test.clock.advance(toTimerAfter: Self.patience)
            _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
            #expect(channel.functionsInside.map(\.isOverdue) == [true])
            #expect(try await test.call("gate", "release") == 1)
            while !channel.functionsInside.isEmpty { try await Task.checkedYield() }
            await test.host.close()
        }

        // MARK: Phases

        @Test func `a plugin is not blamed for a proof that its stopped runner has not taken`() async throws {
            let test = try await TestHost.opened(Self.leaf("crashes", #", "probe": "30s", "timeout": "7s""#))
            let process = try Self.process(test)
            try await RunnerHangTests.stop(process, of: "gate", test)
            let channel = try test.remoteChannel("gate")
            test.clock.advance(by: .seconds(30))
            while !channel.state.withLock({ $0.pending.values.contains { $0.isPhase && $0.message != nil } }) {
                try await Task.checkedYield()
            }
            await test.clock.advance(toTimerAfter: .seconds(7))
            _ = await test.host.report { $0["gate"]?.state == .degraded }
            let error = try #require(try test.gate("gate").error)
            #expect(error.message.hasPrefix("probe did not begin within"), "\(error)")
            #expect(error.fix == nil, "\(error)")
            #expect(kill(process, SIGCONT) == 0)
            while test.isAskingRunners { try await Task.checkedYield() }
            await test.host.close()
        }

        @Test func `a proof that its runner ends after the host has given it up is forgotten`() async throws {
            let name = TestHost.unique()
            let settings = #""isolation": "process", "sandbox": "off", "probe": "30s", "timeout": "7s""#
            let test = try await TestHost.opened(TestHost.leaf("gate", ["name": .string(name)], settings: settings))
            let channel = try test.remoteChannel("gate")
            try await test.call("gate", "probes", ["name": .string(name), "status": -1])
            test.clock.advance(by: .seconds(30))
            while !channel.state.withLock({ state in
                state.pending.values.contains { $0.name == "probe" && $0.hasReturned }
            }) {
                try await Task.checkedYield()
            }
            await test.clock.advance(toTimerAfter: .seconds(7))
            _ = await test.host.report { $0["gate"]?.state == .degraded }
            while !channel.state.withLock({ $0.pending.isEmpty }) { try await Task.checkedYield() }
            await test.host.close()
        }

        @Test func `a plugin is not blamed for its end that its stopped runner has not taken`() async throws {
            let lines = Journal<String>()
            let test = try TestHost(
                Self.leaf("crashes", #", "probe": "off", "timeout": "1000s""#),
                logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
            )
            #expect(await test.host.open().isReady)
            let process = try Self.process(test)
            try await RunnerHangTests.stop(process, of: "gate", test)
            await test.clock.advance(by: .milliseconds(250)) { await test.host.close() }
            #expect(lines.values.contains { $0.hasPrefix("runner takes no messages") }, "\(lines.values)")
            #expect(!lines.values.contains { $0.hasPrefix("plugin blocks") }, "\(lines.values)")
            while kill(process, 0) == 0 { try await Task.checkedYield() }
        }

        // MARK: Callbacks

        @Test func `a callback that does not return is the cause of the call that it holds up`() async throws {
            let test = try await TestHost.opened(Self.leaf("crashes"))
            let channel = try test.remoteChannel("gate")
            let first = Self.failing(test, "begin", ["how": "callback"], within: Self.patience)
            await test.clock.advance(toTimerAfter: .milliseconds(1))
            while channel.state.withLock({ $0.callbackSince == nil }) { try await Task.checkedYield() }
            test.clock.advance(by: .milliseconds(1))
            let second = Self.failing(test, "later", within: .seconds(5))
            while !channel.state.withLock({ state in
                state.pending.values.contains { $0.name == "later" && $0.hasReturned }
            }) {
                try await Task.checkedYield()
            }
            await test.clock.advance(toTimerAfter: .seconds(5))
            let error = try await second.value
            #expect(error.message.hasPrefix("later did not complete within"), "\(error)")
            #expect(error.cause?.hasPrefix("a callback of a request or timer did not return") == true, "\(error)")
            _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
            try await test.advance(by: .seconds(1)) { await test.host.close() }
            _ = try await first.value
        }
    }
#endif
