// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Logging
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#endif

/// Runners that end before their time: the host is unharmed, says why, and goes on.
@Suite(
    .timeLimit(.minutes(5)),
    .serialized,
    .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
)
struct RunnerCrashTests {
    /// Without a sandbox: in a namespace of its own, each process has the number 1, and cannot signal itself.
    static let heals =
        #""probe": "off", "isolation": "process", "sandbox": "off", "heal": {"initial": "1s", "max": "1s"}"#

    private func opened(_ settings: String = heals) async throws -> TestHost {
        let test = try TestHost(TestHost.leaf("gate", plugin: "crashes", settings: settings))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        return test
    }

    private func crash(_ test: TestHost, _ how: JSONValue, operation: String = "crash") async throws -> ConnectorError {
        try await failure { () throws(ConnectorError) in try await test.call("gate", operation, ["how": how]) }
    }

    /// Crashes the runner, and waits until the gate is open in a new one.
    private func crashAndHeal(_ test: TestHost, _ how: JSONValue) async throws -> ConnectorError {
        let generation = try test.gate("gate").generation
        let error = try await crash(test, how)
        try await heals(test, after: generation)
        return error
    }

    /// Waits until the gate is open in a later generation. The clock moves to each attempt, and stands still while that begins and a
    /// runner starts, which takes real time.
    private func heals(_ test: TestHost, after generation: UInt64) async throws {
        while try test.gate("gate").generation == generation || test.state("gate") != .open {
            if let next = try test.gate("gate").nextAttemptAt, next > test.clock.wallTime() {
                test.clock.advance(by: .seconds(1))
            }
            try await Task.checkedYield()
        }
    }

    @Test(arguments: [
        ("null", "SIGSEGV"), ("abort", "SIGABRT"), ("overflow", "SIGSEGV"), ("trap", "SIGILL"), ("kill", "SIGKILL"),
        ("exit", "exit"), ("exit-well", "exit"), ("quit", "exit"),
        ("garbage", "broke the protocol"), ("close", "a plugin closes descriptors that are not its own"),
        ("shutdown", "a plugin closes descriptors that are not its own"),
        ("overwrite", "the memory that host and runner share"), ("zero", "the memory that host and runner share"),
    ])
    func `a crash ends the calls with its reason, and the gate heals in a new runner`(_ how: String, _ reason: String)
        async throws
    {
        let test = try await opened()
        let before = try await test.call("gate", "process")
        let error = try await crashAndHeal(test, .string(how))
        #expect(error.code == .crashed)
        #expect(error.connector == "gate")
        #expect(error.message.contains("crashes 1.0.0") && error.message.contains(reason), "\(error)")
        #expect(error.message.contains("crash: ") && error.message.contains("was sent"), "\(error)")
        #expect(try await test.call("gate", "process") != before)
        await test.host.close()
    }

    /// How many messages the runner has taken is in that memory, too. The plugin ends before anybody looks at it, or just after.
    @Test func `a call of a plugin that fills the memory with zeros and crashes is not said to be unsent`()
        async throws
    {
        let test = try await opened()
        let error = try await crash(test, "zero-and-abort")
        #expect(error.code == .crashed)
        #expect(error.sending != .no, "\(error)")
        await test.host.close()
    }

    /// The first process of a namespace cannot send itself a signal, so not every way to end is one there.
    @Test(arguments: [
        ("null", "ended with SIGSEGV"), ("abort", "ended with SIGABRT"), ("overflow", "ended with SIGSEGV"),
        ("trap", "ended with SIGILL"), ("exit", "called exit"), ("quit", "called _exit"),
        ("garbage", "broke the protocol"), ("close", "a plugin closes descriptors that are not its own"),
    ])
    func `a crash in a sandbox has its reason too, and the gate heals in a new runner`(_ how: String, _ reason: String)
        async throws
    {
        let test = try await opened(Self.heals.replacing(#""sandbox": "off", "#, with: ""))
        let before = try #require(test.host.report.runners.first?.process)
        let error = try await crashAndHeal(test, .string(how))
        #expect(error.code == .crashed)
        #expect(error.message.contains("crashes 1.0.0") && error.message.contains(reason), "\(error)")
        #expect(test.host.report.runners.first?.process != before)
        #expect(try test.gate("gate").crashCount == 1)
        await test.host.close()
    }

    @Test func `a plugin that closes the runner's descriptors and goes on is noticed without a call`() async throws {
        let test = try await opened()
        let generation = try test.gate("gate").generation
        // Its answer may come first: through memory, which stays.
        _ = try? await test.call("gate", "crash", ["how": "close-and-go-on"])
        while try test.gate("gate").crashCount == 0 { try await Task.checkedYield() }
        #expect(try test.gate("gate").error?.message.contains("descriptors that are not its own") == true)
        try await heals(test, after: generation)
        await test.host.close()
    }

    @Test func `a plugin that scribbles over the shared memory while calls run ends its runner alone`() async throws {
        let test = try await opened()
        let generation = try test.gate("gate").generation
        // Its answer may come first. Whoever uses the memory next finds it damaged: the host or the runner.
        _ = try? await test.call("gate", "crash", ["how": "scribble"])
        while try test.gate("gate").crashCount == 0 { _ = try? await test.call("gate", "process") }
        let reason = try #require(try test.gate("gate").error).message
        let reasons = ["it broke the protocol", "the memory that host and runner share"]
        #expect(reasons.contains { reason.contains($0) }, "\(reason)")
        try await heals(test, after: generation)
        #expect(try await test.call("gate", "process").integer != nil)
        await test.host.close()
    }

    @Test func `the error of a crash names the image, the place in it, its function, and the thread`() async throws {
        let test = try await opened()
        let error = try await crash(test, "null")
        #expect(error.message.contains(#/libcrashes\.so\+0x[0-9a-f]+ \([a-z0-9_.]+\), on the thread /#), "\(error)")
        await test.host.close()
    }

    @Test func `the error of a crash has the last lines that the plugin logged and printed`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", settings: Self.heals),
            logger: Logger(label: "test") { _ in JournalLogHandler(Journal()) }
        )
        #expect(await test.host.open().isReady)
        for number in 1...6 { try await test.call("gate", "note", ["text": .string("note \(number)")]) }
        try await test.call("gate", "note", ["text": .string(String(repeating: "x", count: 4097))])
        try await test.call("gate", "print", ["text": "hello"])
        let error = try await crash(test, "abort")
        // The crash's own line comes last; it ends with an address.
        let lines = "its last lines: note 2 | note 3 | note 4 | note 5 | note 6 | hello | "
        let note = "connector-host: SIGABRT below the plugin crashes 1.0.0 of gate, at "
        #expect(error.cause?.hasPrefix(lines + note) == true, "\(error)")
        #expect(try test.gate("gate").error?.cause == error.cause)
        await test.host.close()
    }

    @Test func `what a plugin printed without an end is a line of its own beside the note of its crash`() async throws {
        let test = try await opened()
        let error = try await crash(test, "unended")
        #expect(error.cause?.contains("a line without its end | connector-host: SIGABRT") == true, "\(error)")
        await test.host.close()
    }

    @Test func `a plugin that writes to the runner's socket as it opens has not opened`() async throws {
        let settings = RunnerCallTests.numbered + #", "retry": {"attempts": 1}"#
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", ["opens": "garbage-and-go-on"], settings: settings)
        )
        let gate = try #require(await test.host.open()["gate"])
        #expect(gate.state == .failed && gate.error?.code == .crashed, "\(gate.error?.description ?? "")")
        #expect(gate.error?.message.contains("broke the protocol") == true, "\(gate.error?.description ?? "")")
        await test.host.close()
    }

    @Test func `a function that ends its thread fails its call at once, and the thread goes back`() async throws {
        let test = try await opened()
        let count = CallThreads.limit + 1
        for _ in 0..<count {
            let error = try await crash(test, "end-thread")
            #expect(error.code == .misbehaved, "\(error)")
            #expect(error.message.hasPrefix("crash (crashes_crash) ended the thread that it was called on"), "\(error)")
        }
        #expect(try await test.call("gate", "process").integer != nil)
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == count }
        await test.host.close()
    }

    @Test func `a prepared function that ends its thread ends its runner, with that reason`() async throws {
        let test = try await opened()
        let gate = try test.host.gate("gate")
        let error = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("endThread") { prepared throws(ConnectorError) in try prepared() }
        }
        #expect(error.code == .crashed && error.message.contains("ended the thread that it was called on"), "\(error)")
        await test.host.close()
    }

    @Test func `an open that ends its thread fails the gate at once`() async throws {
        let settings = RunnerCallTests.numbered + #", "retry": {"attempts": 1}"#
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", ["opens": "end-thread"], settings: settings)
        )
        let gate = try #require(await test.host.open()["gate"])
        #expect(gate.state == .failed && gate.error?.code == .misbehaved, "\(gate.error?.description ?? "")")
        #expect(gate.error?.message.hasPrefix("open ended the thread that it was called on") == true)
        await test.host.close()
    }

    @Test func `every pending call of a runner ends with its crash`() async throws {
        let test = try await opened()
        async let first = crash(test, "silent", operation: "begin")
        async let second = crash(test, "silent", operation: "begin")
        let own = try await crash(test, "abort")
        let codes = try await [first.code, second.code, own.code]
        #expect(codes == [.crashed, .crashed, .crashed])
        await test.host.close()
    }

    @Test func `a call that waits for its turn in a serial plugin was not sent`() async throws {
        let test = try TestHost(TestHost.leaf("gate", plugin: "serial", settings: Self.heals))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        let channel = try test.remoteChannel("gate")
        func waits(_ waiting: Int, of count: Int) -> Bool {
            channel.state.withLock { state in
                state.pending.count == count && state.pending.values.count { $0.wait == .turn } == waiting
            }
        }
        let calls = (0..<3).map { _ in
            let name = TestHost.unique()
            return Task {
                try await failure { () throws(ConnectorError) in try await test.begin(name, timeout: .seconds(1000)) }
            }
        }
        while !waits(2, of: 3) { try await Task.checkedYield() }
        let name = TestHost.unique()
        let late = Task {
            try await failure { () throws(ConnectorError) in try await test.begin(name, timeout: .seconds(100)) }
        }
        while !waits(3, of: 4) { try await Task.checkedYield() }
        await test.clock.advance(toTimerAfter: .seconds(100))
        #expect(try await late.value.message.hasPrefix("begin did not begin within"))
        // The next one gets its turn once the host gives up the one inside.
        let first = channel.state.withLock { state in state.pending.first { $0.value.wait == nil }?.key }
        let inside = try #require(first)
        let error = ConnectorError(.timedOut, "given up")
        #expect(channel.dependencies.operations.giveUp(inside, owner: channel.context.owner, error))
        channel.cancel(inside) {}
        while !waits(1, of: 2) { try await Task.checkedYield() }
        #expect(kill(pid_t(channel.runner.processNumber), SIGKILL) == 0)
        var errors: [ConnectorError] = []
        for call in calls { errors.append(try await call.value) }
        #expect(errors.count { $0.code == .timedOut } == 1)
        let crashes = errors.filter { $0.code == .crashed }
        let unsent = crashes.filter { $0.sending == .no }
        #expect(crashes.count == 2 && unsent.count == 1, "\(crashes)")
        #expect(unsent.first?.message.hasSuffix("the call was not sent") == true, "\(crashes)")
        await test.host.close()
    }

    @Test func `typed and prepared calls end with the crash too`() async throws {
        let test = try await opened()
        let gate = try test.host.gate("gate")
        let begin = try gate.typed("begin", "(how: string) async -> json", as: OperationFunction.Texts1.self)
        #expect(try await begin("twice") == 1)
        let generation = try test.gate("gate").generation
        let typed = try await failure { () throws(ConnectorError) in try await begin("abort") }
        try await heals(test, after: generation)
        #expect(try await begin("twice") == 1)
        let prepared = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("crash") { crash throws(ConnectorError) in
                try crash.set("abort", at: 0)
                try crash()
            }
        }
        for (error, name) in [(typed, "begin"), (prepared, "crash")] {
            #expect(error.code == .crashed && error.connector == "gate")
            #expect(error.message.contains("SIGABRT") && error.message.contains("\(name): "), "\(error)")
        }
        // The one in a lane has taken effect, for all that the host knows.
        #expect(prepared.sending == .yes && !prepared.isRetryable, "\(prepared)")
        await test.host.close()
    }

    @Test(arguments: [("abort", "SIGABRT"), ("kill", "SIGKILL")])
    func `a crash while opening fails the gate with its reason`(_ how: String, _ reason: String) async throws {
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", ["opens": .string(how)], settings: RunnerCallTests.numbered)
        )
        let error = try #require(await test.host.open()["gate"]?.error)
        #expect(error.code == .crashed)
        #expect(error.message.contains("open: ") && error.message.contains(reason), "\(error)")
        await test.host.close()
    }

    @Test func `a crash in destroy is in the log, which names it, and counts`() async throws {
        let lines = Journal<String>()
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", ["destroys": "abort"], settings: RunnerCallTests.numbered),
            logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
        )
        #expect(await test.host.open().isReady)
        await test.host.close()
        let expected = "destroy: the runner of crashes 1.0.0 has ended: it ended with SIGABRT"
        #expect(lines.values.contains { $0.contains(expected) }, "\(lines.values)")
        #expect(try test.gate("gate").crashCount == 1)
    }

    @Test func `a crash in cancel fails the gate with an error that names it`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", ["cancels": "abort"], settings: RunnerCallTests.numbered)
        )
        #expect(await test.host.open().isReady)
        let channel = try test.remoteChannel("gate")
        let call = Task { try await crash(test, "silent", operation: "begin") }
        // A call that is given up before its function begins is never made.
        while !channel.state.withLock({ $0.pending.values.contains { $0.name == "begin" && $0.hasReturned } }) {
            try await Task.checkedYield()
        }
        call.cancel()
        #expect(try await call.value.code == .cancelled)
        _ = await test.host.report { $0["gate"]?.state == .failed }
        let error = try #require(try test.gate("gate").error)
        #expect(error.message.contains("cancel: the runner of crashes 1.0.0 has ended"), "\(error)")
        await test.host.close()
    }

    @Test func `a constructor that crashes ends only its runner`() async throws {
        let host = try ConnectorHost.testing(
            #"[{"name": "gate", "plugin": "crashes-in-constructor", "isolation": "process", "heal": "off"}]"#,
            plugins: [Fixtures.misbehaving("crashes-in-constructor")]
        )
        let error = try #require(await host.open()["gate"]?.error)
        #expect(error.code == .crashed, "\(error)")
        await host.close()
    }

    @Test func `a constructor that closes descriptors of the runner fails the gate, with that reason`() async throws {
        let retry = #""retry": {"attempts": 1}, "heal": "off""#
        let host = try ConnectorHost.testing(
            #"[{"name": "gate", "plugin": "closes-in-constructor", "isolation": "process", \#(retry)}]"#,
            plugins: [Fixtures.misbehaving("closes-in-constructor")]
        )
        let error = try #require(await host.open()["gate"]?.error)
        #expect(error.code == .crashed && error.message.contains("it closed the socket to the host"), "\(error)")
        await host.close()
    }

    @Test func `a call that finds the messages closed was not sent, and fails with the reason of the end`() async throws
    {
        let test = try await opened()
        let channel = try test.remoteChannel("gate")
        let generation = try test.gate("gate").generation
        // As on the runner's thread, once it has noticed that the socket is closed.
        channel.runner.state.withLock { $0.isOver = true }
        channel.runner.outgoing.close()
        let call = Task {
            try await failure { () throws(ConnectorError) in try await test.call("gate", "process") }
        }
        func isHeld() -> Bool { channel.state.withLock { $0.pending.values.contains { $0.message == UInt64.max } } }
        while !isHeld() { try await Task.checkedYield() }
        channel.runner.stop("the test ends it")
        let error = try await call.value
        #expect(error.sending == .no && error.isRetryable)
        #expect(error.message.contains("the test ends it; the call was not sent"), "\(error)")
        try await heals(test, after: generation)
        await test.host.close()
    }

    @Test func `a constructor that prints a megabyte disturbs nothing`() async throws {
        let host = try ConnectorHost.testing(
            #"[{"name": "gate", "plugin": "prints-in-constructor", "isolation": "process", "heal": "off"}]"#,
            plugins: [Fixtures.misbehaving("prints-in-constructor")]
        )
        let report = await host.open()
        #expect(report["gate"]?.state == .open, "\(report["gate"]?.error?.description ?? "")")
        await host.close()
    }

    #if os(Linux)
        @Test func `a stopped runner counts as hanging, and the gate heals in a new one`() async throws {
            let test = try await opened()
            let before = try await test.call("gate", "process")
            let generation = try test.gate("gate").generation
            async let answer = failure { () throws(ConnectorError) in
                try await test.call("gate", "begin", ["how": "stop"], options: CallOptions(timeout: .seconds(5)))
            }
            // A runner that has not stopped yet would answer when it is asked whether it lives.
            let process = try #require(before.integer)
            try await awaitStop(of: pid_t(process))
            await test.clock.advance(toTimerAfter: .seconds(5))
            #expect(try await answer.code == .timedOut)
            await test.clock.advance(toTimerAfter: .seconds(2))
            _ = await test.host.report { $0["gate"]?.state == .failed }
            #expect(try test.gate("gate").error?.message.contains("did not answer") == true)
            try await heals(test, after: generation)
            #expect(try await test.call("gate", "process") != before)
            await test.host.close()
        }
    #endif

    @Test func `five crashes within a minute are reported as one error, which is not retried`() async throws {
        let test = try await opened()
        for _ in 0..<4 { _ = try await crashAndHeal(test, "kill") }
        _ = try await crash(test, "kill")
        _ = await test.host.report { $0["gate"]?.state == .failed }
        let error = try #require(try test.gate("gate").error)
        #expect(error.message.hasPrefix("5 runners have ended in quick succession"), "\(error)")
        #expect(!error.isRetryable)
        await test.host.close()
    }

    @Test func `an instance whose runner has ended is not closed, and the log says nothing of that`() async throws {
        let lines = Journal<String>()
        let test = try TestHost(
            TestHost.leaf("gate", settings: Self.heals),
            logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
        )
        #expect(await test.host.open().isReady)
        let process = pid_t(try #require(test.host.report.runners.first?.process))
        #expect(kill(process, SIGKILL) == 0)
        try await heals(test, after: 1)
        await test.host.close()
        #expect(lines.values.contains("gate failed"))
        #expect(!lines.values.contains("close failed"))
    }

    @Test func `what a plugin prints is a line of the log`() async throws {
        let lines = Journal<String>()
        let test = try TestHost(
            TestHost.leaf("gate", plugin: "crashes", settings: RunnerCallTests.process),
            logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
        )
        #expect(await test.host.open().isReady)
        try await test.call("gate", "print", ["text": "hello from a plugin"])
        while !lines.values.contains("hello from a plugin") { try await Task.checkedYield() }
        try await test.call("gate", "note", ["text": "a warning"])
        while !lines.values.contains("a warning") { try await Task.checkedYield() }
        await test.host.close()
    }
}
