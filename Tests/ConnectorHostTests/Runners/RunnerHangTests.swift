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

    /// A runner that is stopped answers nothing, and does not end: whatever was late in it, the host ends it, and goes on in another one.
    /// A plugin that blocks keeps its runner's thread, until its gate closes.
    @Suite(
        .timeLimit(.minutes(5)),
        .serialized,
        .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
    )
    struct RunnerHangTests {
        /// Threads that calls may block.
        private let threads = WorkerThreads()

        private static func leaf(_ name: String = "gate", _ config: JSONObject = [:], _ settings: String = "") -> String
        {
            let common = #""isolation": "process", "sandbox": "off", "heal": {"initial": "1s", "max": "1s"}"#
            return TestHost.leaf(name, plugin: "crashes", config, settings: "\(common)\(settings)")
        }

        /// Stops the runner of a gate, once it does nothing, and waits until the host has handled what it has said: a runner that does
        /// not answer is ended only then.
        private static func stop(_ test: TestHost, _ path: String = "gate") async throws -> pid_t {
            let process = pid_t(try #require(try await test.call(path, "process").integer))
            try await stop(process, of: path, test)
            return process
        }

        /// Stops a process, the runner of a gate, and waits until the host has handled what it has said.
        static func stop(_ process: pid_t, of path: String, _ test: TestHost) async throws {
            #expect(kill(process, SIGSTOP) == 0)
            try await awaitStop(of: process)
            let runner = try test.remoteChannel(path).runner
            let said = unsafe runner.page.toHost.tail.pointee.load(ordering: .sequentiallyConsistent)
            while !runner.ringReading.hasHandled(upTo: said) {
                runner.ringReading.wake()
                try await Task.checkedYield()
            }
        }

        /// How long after its beginning a call in a lane gets a timer that is due, on a clock that has not moved since.
        private static let laneWait = Duration.nanoseconds(
            Int64(CallOptions().timeoutNanoseconds - LaneStream.briefly)
        )

        /// Stops the runner of `gate`, which has a lane, and makes a call there.
        ///
        /// - Returns: The process, and the call, once it waits for its answer.
        private func callInLane(_ test: TestHost) async throws -> (pid_t, Task<ConnectorError, any Error>) {
            let gate = try test.host.gate("gate")
            try await gate.withPrepared("process") { prepared throws(ConnectorError) in try prepared() }
            let process = try await Self.stop(test)
            let call = Task(executorPreference: threads) {
                try await failure { () throws(ConnectorError) in
                    try await gate.withPrepared("process") { prepared throws(ConnectorError) in try prepared() }
                }
            }
            await test.clock.timer(dueAfter: Self.laneWait)
            return (process, call)
        }

        /// Moves the clock until something is so, where no runner starts meanwhile: that takes real time.
        private static func advance(_ test: TestHost, until isSo: () throws -> Bool) async throws {
            while try !isSo() {
                test.clock.advance(by: .milliseconds(500))
                try await Task.checkedYield()
            }
        }

        /// Waits until gates are open. The clock moves between their attempts alone, and not while a runner starts or is asked whether it
        /// still answers: that takes real time.
        static func heal(_ test: TestHost, _ paths: String...) async throws {
            for path in paths {
                while test.state(path) != .open {
                    let next = test.host.report[path]?.nextAttemptAt
                    if let next, next > test.clock.wallTime(), !test.isAskingRunners {
                        test.clock.advance(by: .seconds(1))
                    }
                    try await Task.checkedYield()
                }
            }
        }

        /// Lets a stopped runner, which is asked whether it still answers, be late, so that the host ends it.
        static func missAnswer(_ test: TestHost, of process: pid_t) async throws {
            await test.clock.advance(toTimerAfter: .seconds(2))
            while kill(process, 0) == 0 { try await Task.checkedYield() }
        }

        /// Lets the proof of a gate whose runner is stopped be late, and the runner not answer afterwards.
        private static func missProof(_ test: TestHost, of process: pid_t) async throws {
            test.clock.advance(by: .seconds(30))
            await test.clock.advance(toTimerAfter: .seconds(7))
            try await missAnswer(test, of: process)
        }

        @Test func `a proof that is late ends the stopped runner, and the gate heals in another one`() async throws {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "30s", "timeout": "7s""#))
            let process = try await Self.stop(test)
            try await Self.missProof(test, of: process)
            // The gate may learn of the end after the process is gone.
            _ = await test.host.report { $0["gate"]?.crashCount == 1 }
            try await Self.heal(test, "gate")
            #expect(try await test.call("gate", "process") != .integer(Int64(process)))
            await test.host.close()
        }

        @Test func `a proof that is late hands over to the standby`() async throws {
            let settings = #", "probe": "30s", "timeout": "7s", "standby": true"#
            let test = try await TestHost.opened(Self.leaf("gate", [:], settings))
            while try test.gate("gate").standby?.state != .ready { try await Task.checkedYield() }
            let process = try await Self.stop(test)
            try await Self.missProof(test, of: process)
            while try test.gate("gate").standby?.takeovers != 1 { try await Task.checkedYield() }
            #expect(try test.gate("gate").state == .open)
            await test.host.close()
        }

        @Test func `an instance that cannot be made in time ends the stopped runner, and all its gates heal`()
            async throws
        {
            let test = try TestHost(
                Self.leaf("gate", [:], #", "probe": "off""#),
                Self.leaf("other", [:], #", "probe": "off", "timeout": "1s""#)
            )
            try await test.host.open("gate")
            let process = try await Self.stop(test)
            let opening = Task { try await test.host.open("other") }
            try await Self.missAnswer(test, of: process)
            try await Self.heal(test, "gate", "other")
            _ = try? await opening.value
            await test.host.close()
        }

        @Test func `a runner that stops while its gate opens is ended, and the gate has failed`() async throws {
            let settings = RunnerCallTests.numbered + #", "timeout": "7s", "retry": {"attempts": 1}"#
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "crashes", ["opens": "stop"], settings: settings)
            )
            let opened = OneShot<Report>()
            Task { opened.send(await test.host.open()) }
            while test.host.dependencies.runners.runners.isEmpty { try await Task.checkedYield() }
            let process = pid_t(try #require(test.host.dependencies.runners.runners.first).processNumber)
            try await awaitStop(of: process)
            try await Self.advance(test) { opened.value != nil && kill(process, 0) == -1 }
            let gate = try #require(opened.value?["gate"])
            #expect(gate.state == .failed && gate.error?.code == .timedOut, "\(gate.error?.description ?? "")")
            await test.host.close()
            #expect(test.host.dependencies.runners.runners.isEmpty)
        }

        /// A lane is opened for the first prepared call. If its runner is stopped, the call travels as a message, and the runner is asked
        /// whether it still answers.
        @Test(arguments: [SIGSTOP, SIGKILL])
        func `a runner that is stopped or killed while a lane opens is ended, and so is the call`(
            _ signal: Int32
        ) async throws {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "off""#))
            let gate = try test.host.gate("gate")
            let process = try await Self.stop(test)
            let ended = OneShot<ConnectorError>()
            let call = Task(executorPreference: threads) {
                let error = try await failure { () throws(ConnectorError) in
                    try await gate.withPrepared("process") { prepared throws(ConnectorError) in try prepared() }
                }
                ended.send(error)
            }
            let patience = CallLanes.openingPatience - LaneStream.briefly
            await test.clock.timer(dueAfter: .nanoseconds(Int64(patience)))
            if signal == SIGKILL {
                #expect(kill(process, SIGKILL) == 0)
                while kill(process, 0) == 0 { try await Task.checkedYield() }
            } else {
                test.clock.advance(by: .nanoseconds(Int64(patience)))
                try await Self.missAnswer(test, of: process)
            }
            try await call.value
            let error = await ended.wait()
            #expect(error.code == .crashed && error.sending == .no, "\(error)")
            // The gate may learn of the end after the process is gone, and another runner may be late on a clock that was moved so far.
            var other: JSONValue?
            while other == nil {
                try await Self.heal(test, "gate")
                other = try? await test.call("gate", "process")
            }
            #expect(other != .integer(Int64(process)))
            await test.host.close()
        }

        @Test func `a gate that closes leaves nothing of its stopped runner behind`() async throws {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "off""#))
            let process = try await Self.stop(test)
            let closing = Task { await test.host.close() }
            try await Self.advance(test) { kill(process, 0) == -1 }
            await closing.value
            #expect(test.host.dependencies.runners.runners.isEmpty)
        }

        @Test func `a runner that does not answer in time is no misbehaviour of the plugin that it was to carry`()
            async throws
        {
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let program = try directory.write("runner", "#!/bin/sh\nexec 5>&-\nkill -STOP $$\n", mode: 0o755)
            let settings = #""isolation": "process", "sandbox": "off", "timeout": "2s", "probe": "off""#
            let test = try TestHost(
                TestHost.leaf("gate", plugin: "values", settings: settings),
                environment: [RunnerProgram.variable: program]
            )
            async let opening = test.host.open()
            let generations = test.host.dependencies.generations
            while !generations.functionsInside.contains(where: { $0.text.hasPrefix("create of ") }) {
                try await Task.checkedYield()
            }
            await test.clock.advance(toTimerAfter: .seconds(2))
            let report = await opening
            let gate = try #require(report["gate"])
            #expect(gate.state == .failed && gate.misbehaviourCount == 0)
            #expect(gate.error?.message == "the runner of values 1.0.0 was not ready within 2.0 s")
            await test.clock.advance(by: .seconds(1)) { await test.host.close() }
        }

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

        @Test func `a plugin is not blamed for a call that its stopped runner has not taken`() async throws {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "off""#))
            let process = try await Self.stop(test)
            async let answer = failure { () throws(ConnectorError) in
                try await test.call("gate", "process", options: CallOptions(timeout: .seconds(1)))
            }
            await test.clock.advance(toTimerAfter: .seconds(1))
            let error = try await answer
            #expect(error.code == .timedOut)
            #expect(error.message.hasPrefix("process did not begin within"), "\(error)")
            #expect(error.cause?.hasPrefix("its runner did not take the call") == true, "\(error)")
            #expect(kill(process, SIGCONT) == 0)
            #expect(try await test.call("gate", "process") == .integer(Int64(process)))
            #expect(try test.gate("gate").misbehaviourCount == 0)
            await test.host.close()
        }

        @Test func `a plugin is not blamed for a call in a lane that its stopped runner has not taken`() async throws {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "off""#))
            let (process, call) = try await callInLane(test)
            test.clock.advance(by: Self.laneWait)
            let error = try await call.value
            #expect(error.code == .timedOut)
            #expect(error.message.hasPrefix("process did not begin within"), "\(error)")
            #expect(error.cause?.hasPrefix("its runner did not take the call") == true, "\(error)")
            #expect(kill(process, SIGCONT) == 0)
            #expect(try await test.call("gate", "process") == .integer(Int64(process)))
            #expect(try test.gate("gate").misbehaviourCount == 0)
            await test.host.close()
        }

        @Test func `a call in a lane that a stopped runner has not taken was not sent if the runner is killed`()
            async throws
        {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "off""#))
            let (process, call) = try await callInLane(test)
            #expect(kill(process, SIGKILL) == 0)
            let error = try await call.value
            #expect(error.code == .crashed && error.sending == .no && error.isRetryable, "\(error)")
            #expect(error.message.hasSuffix("the call was not sent"), "\(error)")
            await test.host.close()
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

        /// What a call says that ends at its deadline, once its function has returned.
        @Test func `an operation that is never completed in a runner is told from one that blocks`() async throws {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "off""#))
            let channel = try test.remoteChannel("gate")
            async let answer = failure { () throws(ConnectorError) in
                try await test.call("gate", "begin", ["how": "silent"], options: CallOptions(timeout: .seconds(5)))
            }
            // The gate's opening has returned, too, and may be about to be forgotten.
            while !channel.state.withLock({ state in
                state.pending.values.contains { $0.name == "begin" && $0.hasReturned }
            }) {
                try await Task.checkedYield()
            }
            await test.clock.advance(toTimerAfter: .seconds(5))
            let error = try await answer
            #expect(error.message.hasPrefix("begin did not complete within"), "\(error)")
            #expect(
                error.cause?.contains("it is still working, or forgot to complete the operation") == true,
                "\(error)"
            )
            #expect(try test.gate("gate").misbehaviourCount == 0)
            await test.host.close()
        }

        @Test func `a runner whose answer waits behind a listener that takes its time is not ended`() async throws {
            let test = try await TestHost.opened(Self.leaf("gate", [:], #", "probe": "off""#))
            let channel = try test.remoteChannel("gate")
            let (listening, mayReturn) = (OneShot<Void>(), Monitor(false))
            let options = CallOptions(timeout: .seconds(1000)) { _ in
                listening.send()
                mayReturn.wait { $0 ? .proceed(()) : .wait(until: nil) }
            }
            let call = Task {
                try await failure { () throws(ConnectorError) in
                    try await test.call("gate", "begin", ["how": "pending"], options: options)
                }
            }
            await listening.wait()
            channel.checkPulse()
            // The second wait shows that the first one has ended without a judgment.
            for _ in 0..<2 { await test.clock.advance(toTimerAfter: .seconds(2)) }
            #expect(channel.runner.isAlive)
            mayReturn.withLock { $0 = true }
            mayReturn.signal()
            #expect(try await test.call("gate", "process").integer != nil)
            call.cancel()
            #expect(try await call.value.code == .cancelled)
            #expect(try test.gate("gate").crashCount == 0)
            await test.host.close()
        }

        @Test func `the runner of a plugin that blocks ends with its gate`() async throws {
            let test = try await TestHost.opened(
                TestHost.leaf("gate", plugin: "blocks", settings: #""probe": "off", "isolation": "process""#)
            )
            let process = pid_t(try #require(test.host.report.runners.first?.process))
            try await Self.block(test, "gate")
            let closing = Task { await test.host.close() }
            try await Self.advance(test) { kill(process, 0) == -1 }
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
