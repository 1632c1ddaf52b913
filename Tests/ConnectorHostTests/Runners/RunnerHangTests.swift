// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorBase
    import ConnectorHostTesting
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Synchronization
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorInvocation
    @testable import ConnectorIsolation
    @testable import ConnectorPlatform

    /// A runner that is stopped answers nothing, and does not end: whatever was late in it, the host ends it, and goes on in another one.
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
        static func advance(_ test: TestHost, until isSo: () throws -> Bool) async throws {
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
    }
#endif
