// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorSimulator
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Operations whose manifest says `"prompt": true` run on their caller's thread, as long as they are prompt.
@Suite(.timeLimit(.minutes(5))) struct PromptCallTests {
    /// A clock on which time passes only between two looks at it, as much as a test says.
    private final class SteppingClock: HostClock {
        private let clock = ManualHostClock()
        private let state = Mutex((time: 1_000_000_000 as UInt64, step: 0 as UInt64))

        /// How much time passes between two looks.
        func step(by duration: Duration) { state.withLock { $0.step = duration.nanoseconds } }

        func now() -> UInt64 {
            state.withLock { state in
                state.time += state.step
                return state.time
            }
        }

        func wallTime() -> Timestamp { clock.wallTime() }

        func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
            clock.schedule(after: delay, fire)
        }

        func cancel(_ timer: HostTimer) -> Bool { clock.cancel(timer) }
    }

    private let clock = SteppingClock()

    /// - Parameter settings: More of the connector, such as `, "isolation": "process"`.
    private func opened(
        _ plugin: String = "prompt",
        settings: String = "",
        on clock: (any HostClock)? = nil
    ) async throws -> ConnectorHost {
        let host = try ConnectorHost.testing(
            #"[{"name": "gate", "plugin": "\#(plugin)", "probe": "off"\#(settings)}]"#,
            plugins: [Fixtures.contract(plugin)],
            clock: clock ?? self.clock
        )
        #expect(await host.open().isReady)
        return host
    }

    /// The calling thread, as the plugin names it.
    private var thread: JSONValue {
        #if canImport(Glibc)
            .integer(Int64(clamping: pthread_self()))
        #else
            .integer(Int64(clamping: UInt(bitPattern: pthread_self())))
        #endif
    }

    /// The thread on which an operation runs.
    private func thread(of operation: String, _ gate: GateClient) async throws -> JSONValue {
        switch operation {
        case "threadFor", "elsewhere": try await gate.call(operation, 1)
        default: try await gate.call(operation)
        }
    }

    /// Whether an operation runs on its caller's thread.
    private func isInline(_ operation: String, _ gate: GateClient) async throws -> Bool {
        let before = thread
        let inside = try await thread(of: operation, gate)
        return inside == before
    }

    @Test(arguments: ["thread", "threadFor", "begin"])
    func `a prompt operation runs on its caller's thread`(_ operation: String) async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        #expect(try await isInline(operation, gate))
        #expect(try await isInline(operation, gate))
        #expect(try await !isInline("elsewhere", gate))
        #expect(host.report["gate"]?.misbehaviourCount == 0)
        await host.close()
    }

    /// The meter of an operation that has been called.
    private func meter(of operation: String, _ host: ConnectorHost) throws -> CallMeter {
        let node = try #require(host.current.tree["gate"])
        let known = unsafe node.tally.meter(of: operation)?.takeUnretainedValue()
        return try #require(known)
    }

    @Test func `an operation is expected to be prompt if its manifest says so`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        #expect(try await isInline("threadFor", gate))
        #expect(try await !isInline("elsewhere", gate))
        #expect(try meter(of: "threadFor", host).isPrompt)
        #expect(try !meter(of: "elsewhere", host).isPrompt)
        await host.close()
    }

    @Test func `a wrong expectation changes nothing about a call, which corrects it`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        for operation in ["threadFor", "elsewhere", "begin"] { _ = try await thread(of: operation, gate) }
        let prompt = try meter(of: "threadFor", host)
        prompt.isPrompt = false
        #expect(try await isInline("threadFor", gate))
        #expect(prompt.isPrompt)
        let blocking = try meter(of: "elsewhere", host)
        blocking.isPrompt = true
        #expect(try await !isInline("elsewhere", gate))
        #expect(!blocking.isPrompt)
        // A prompt operation that answers by completion runs on its caller's thread, too, but is no prepared call.
        #expect(try await isInline("begin", gate))
        #expect(try !meter(of: "begin", host).isPrompt)
        await host.close()
    }

    @Test(arguments: ["thread", "threadFor", "begin"])
    func `an operation that took over a millisecond is reported once, and runs on a thread until it proves prompt`(
        _ operation: String
    ) async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        clock.step(by: .microseconds(400))
        #expect(try await isInline(operation, gate))
        #expect(host.report["gate"]?.misbehaviourCount == 0)
        clock.step(by: .milliseconds(2))
        #expect(try await isInline(operation, gate))
        #expect(host.report["gate"]?.misbehaviourCount == 1)
        clock.step(by: .zero)
        #expect(try await !isInline(operation, gate))
        #expect(try await !isInline(operation, gate))
        #expect(host.report["gate"]?.misbehaviourCount == 1)
        // The other operations are judged by themselves.
        for other in ["thread", "threadFor", "begin"] where other != operation {
            #expect(try await isInline(other, gate))
        }
        // A slow call starts the count over.
        clock.step(by: .milliseconds(2))
        #expect(try await !isInline(operation, gate))
        clock.step(by: .zero)
        #expect(try await callsOnThreads(operation, gate) >= 100)
        #expect(host.report["gate"]?.misbehaviourCount == 1)
        await host.close()
    }

    @Test func `an operation that fails late is reported, too, and one that is not called is not`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        clock.step(by: .milliseconds(2))
        let wrong = try await failure { () throws(ConnectorError) in try await gate.call("fail", "x") }
        let missing = try await failure { () throws(ConnectorError) in try await gate.call("add", 1) }
        #expect(wrong.code == .invalid && missing.code == .invalid)
        #expect(host.report["gate"]?.misbehaviourCount == 0)
        let failed = try await failure { () throws(ConnectorError) in try await gate.call("fail", 1) }
        #expect(failed.code == .conflict)
        #expect(host.report["gate"]?.misbehaviourCount == 1)
        clock.step(by: .zero)
        let instance = try #require(host.current.tree["gate"]?.gate?.rundown.instance)
        let operation = try instance.operation(named: "fail")
        let isOnThreads = operation.probation.isOn
        #expect(isOnThreads)
        await host.close()
    }

    @Test(arguments: ["thread", "threadFor"])
    func `an operation is judged by the system's time, on a clock that is a hundred times as fast, too`(
        _ operation: String
    ) async throws {
        let host = try await opened(on: FastClock(clock, speed: 100))
        let gate = try host.gate("gate")
        clock.step(by: .microseconds(20))
        #expect(try await isInline(operation, gate))
        #expect(try await isInline(operation, gate))
        #expect(host.report["gate"]?.misbehaviourCount == 0)
        clock.step(by: .milliseconds(2))
        #expect(try await isInline(operation, gate))
        #expect(host.report["gate"]?.misbehaviourCount == 1)
        clock.step(by: .zero)
        #expect(try await !isInline(operation, gate))
        await host.close()
    }

    /// Calls an operation that answers what is not JSON, or a length without bytes.
    private func claim(_ kind: Int64, by way: String, _ gate: GateClient) async throws(ConnectorError) -> JSONValue {
        switch way {
        case "values": return try await gate.call("claim", kind)
        case "names": return try await gate.call("claim", ["kind": .integer(kind)] as JSONObject)
        default:
            return try await gate.withPrepared("claim") { claim throws(ConnectorError) in
                try claim.set(kind, at: 0)
                try claim()
                return try claim.json()
            }
        }
    }

    @Test(arguments: [0, 1] as [Int64], ["values", "names", "prepared"])
    func `an answer that breaks its type is misbehaviour, however the operation is called`(
        _ kind: Int64,
        _ way: String
    ) async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        for count in 1...2 {
            let error = try await failure { () throws(ConnectorError) in try await claim(kind, by: way, gate) }
            #expect(error.code == .misbehaved && error.connector == "gate")
            #expect(host.report["gate"]?.misbehaviourCount == count)
        }
        await host.close()
    }

    /// Makes calls until one runs on its caller's thread.
    ///
    /// - Returns: How many did not.
    private func callsOnThreads(_ operation: String, _ gate: GateClient) async throws -> Int {
        var count = 0
        while try await !isInline(operation, gate) {
            count += 1
            // Calls are counted when their callers may go on already, so some more are made than count.
            try #require(count < 10_000)
        }
        return count
    }

    @Test func `each probation is twice as long as the one before`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        for (number, length) in [100, 200, 400].enumerated() {
            clock.step(by: .milliseconds(2))
            #expect(try await isInline("thread", gate))
            #expect(host.report["gate"]?.misbehaviourCount == number + 1)
            clock.step(by: .zero)
            #expect(try await callsOnThreads("thread", gate) >= length)
        }
        await host.close()
    }

    @Test func `a prompt call without time is not made`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        let error = try await failure { () throws(ConnectorError) in
            try await gate.call("fail", 1, options: CallOptions(timeout: .zero))
        }
        #expect(error.code == .timedOut)
        #expect(error.message.contains("was over before it began"))
        await host.close()
    }

    @Test func `a prompt call of a cancelled task is not made`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        #expect(try await isInline("threadFor", gate))
        let errors = try await afterCancellation {
            [
                try await failure { () throws(ConnectorError) in try await gate.call("threadFor", 1) },
                try await failure { () throws(ConnectorError) in try await gate.call("thread") },
            ]
        }
        #expect(errors.allSatisfy { $0.isCancellation && $0.sending == .no }, "\(errors)")
        await host.close()
    }

    @Test(arguments: ["thread", "begin", "elsewhere"])
    func `a call whose time passes on the way to the function is not made`(_ operation: String) async throws {
        let host = try await opened(settings: Self.breaker)
        let gate = try host.gate("gate")
        let arguments: JSONObject = operation == "elsewhere" ? ["a": 1] : [:]
        clock.step(by: .microseconds(900))
        let error = try await failure { () throws(ConnectorError) in
            try await gate.call(operation, arguments, options: CallOptions(timeout: .microseconds(500)))
        }
        clock.step(by: .zero)
        expectNotMade(error, host)
        await host.close()
    }

    @Test func `a prompt call with values in order whose time passes on the way to the function is not made`()
        async throws
    {
        let host = try await opened()
        let gate = try host.gate("gate")
        #expect(try await isInline("threadFor", gate))
        clock.step(by: .microseconds(900))
        let error = try await failure { () throws(ConnectorError) in
            try await gate.call("threadFor", 1, options: CallOptions(timeout: .microseconds(500)))
        }
        clock.step(by: .zero)
        #expect(error.code == .timedOut && error.isRetryable && error.sending == .no)
        #expect(host.report["gate"]?.misbehaviourCount == 0)
        #expect(try await isInline("threadFor", gate))
        await host.close()
    }

    @Test func `a typed call whose time passes on the way to the function is not made`() async throws {
        let host = try await opened("calls", settings: Self.breaker)
        let answer = try host.gate("gate").typed(
            "answer",
            "(value: json) async -> json",
            as: OperationFunction.Texts1.self
        )
        clock.step(by: .microseconds(900))
        let error = try await failure { () throws(ConnectorError) in
            try await answer("1", options: CallOptions(timeout: .microseconds(500)))
        }
        clock.step(by: .zero)
        expectNotMade(error, host)
        await host.close()
    }

    private static let breaker = #", "breaker": {"failures": 1, "window": "1m", "probe": "10s"}"#

    /// Expects the error of a call whose time was over before it reached the plugin, and a gate that is none the worse for it.
    private func expectNotMade(_ error: ConnectorError, _ host: ConnectorHost) {
        #expect(error.code == .timedOut && error.isRetryable && error.sending == .no)
        #expect(error.message.contains("was over before it began"))
        #expect(host.report["gate"]?.misbehaviourCount == 0)
        #expect(host.report["gate"]?.breaker?.state == .closed)
    }

    @Test func `values reach their parameters, and the answer is that of the function`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        #expect(try await gate.call("add", 1, 2.5) == 3.5)
        #expect(try await gate.call("add", 1 as Int64, 2, "four") == 7.0)
        #expect(try await gate.call("add", JSONValue.integer(1), JSONValue.number(2), JSONValue.null) == 3.0)
        #expect(try await gate.call("add", ["a": 1, "b": 2]) == 3.0)
        #expect(try await gate.call("prompt/add", 1, 1) == 2.0)
        await host.close()
    }

    @Test func `a prompt call is in the recording of its gate`() async throws {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let directory = ScratchDirectory()
        let settings = #""probe": "off", "record": "\#(directory.path)/gate.json""#
        let endpoint: JSONObject = ["endpoint": .string(server.url("/"))]
        let test = try TestHost(TestHost.leaf("gate", plugin: "http", endpoint, settings: settings))
        #expect(await test.host.open().isReady)
        #expect(try await test.host.gate("gate").call("half", 3) == 1.5)
        await test.host.close()
        let recording = try JSONValue(parsing: SystemFile.bytes(of: "\(directory.path)/gate.json", limit: 1 << 20))
        #expect(recording["calls"] == [["operation": "fetch/half", "arguments": ["of": 3], "result": 1.5]])
    }

    @Test func `every mistake is found before the function runs, with the same message as on a thread`() async throws {
        let host = try await opened()
        let gate = try host.gate("gate")
        func message(_ body: () async throws(ConnectorError) -> JSONValue) async throws -> String {
            let error = try await failure(body)
            #expect(error.code == .invalid)
            #expect(error.connector == "gate")
            return error.message
        }
        #expect(
            try await message { () throws(ConnectorError) in try await gate.call("add", "x", 1) }
                == "add, a: expected i64, got a string"
        )
        #expect(try await message { () throws(ConnectorError) in try await gate.call("add", 1) } == #"add needs "b""#)
        #expect(
            try await message { () throws(ConnectorError) in try await gate.call("add", 1, 2, "c", 4) }
                == "add takes 3 values"
        )
        let failed = try await failure { () throws(ConnectorError) in try await gate.call("fail", 1) }
        #expect(failed.code == .conflict && failed.message == "it is taken" && failed.connector == "gate")
        await host.close()
        let closed = try await failure { () throws(ConnectorError) in try await gate.call("add", 1, 2) }
        #expect(closed.code == .notOpen)
    }
}
