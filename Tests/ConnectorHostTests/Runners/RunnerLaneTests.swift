// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorTestSupport
import Foundation
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform

/// Typed and prepared calls of plugins in a runner, whose callers' threads wait for the answers.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
struct RunnerLaneTests {
    /// Threads that calls may block.
    private let threads = WorkerThreads()

    #if os(Linux)
        /// How many threads of a runner serve lanes.
        private func laneCount(_ process: Int64) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count { task in
                systemLines("/proc/\(process)/task/\(task)/comm").first == "lane"
            }
        }
    #endif

    private func process(_ test: TestHost) async throws -> Int64 {
        try #require(try await test.call("gate", "process").integer)
    }

    private func opened(_ plugin: String) async throws -> TestHost {
        let test = try TestHost(TestHost.leaf("gate", plugin: plugin, settings: RunnerCallTests.numbered))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        return test
    }

    #if os(Linux)
        @Test func `a lane is opened for the first caller, and serves those after it`() async throws {
            let test = try await opened("crashes")
            let process = try await process(test)
            #expect(try laneCount(process) == 0)
            for status in [0, 1, 2] as [Int64] {
                let answer = try await test.host.gate("gate").withPrepared("process") { call throws(ConnectorError) in
                    for _ in 0...status { try call() }
                    return try call.integer()
                }
                #expect(answer == process)
                #expect(try laneCount(process) == 1)
            }
            await test.host.close()
        }
    #endif

    @Test func `forty threads at once are answered, through lanes and beside them`() async throws {
        let test = try await opened("values")
        let values = try test.host.gate("gate")
        let counts = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<40 {
                group.addTask(executorPreference: threads) {
                    try await values.withPrepared("count") { count throws(ConnectorError) in
                        var sum: Int64 = 0
                        for length in 0..<25 {
                            try count.set(Array(repeating: 0x78, count: number * length), at: 0)
                            try count()
                            sum += try count.integer()
                        }
                        return sum
                    }
                }
            }
            return try await group.reduce(into: [Int64]()) { $0.append($1) }
        }
        #expect(counts.sorted() == (0..<40).map { $0 * 300 })
        await test.host.close()
    }

    @Test func `megabytes go there and back`() async throws {
        let test = try await opened("values")
        let bytes = (0..<5 << 20).map { UInt8(truncatingIfNeeded: $0 &* 131) }
        let back = try await test.host.gate("gate").withPrepared("reverse") { reverse throws(ConnectorError) in
            try reverse.set(bytes, at: 0)
            try reverse()
            return try reverse.bytes()
        }
        #expect(back == bytes.reversed())
        await test.host.close()
    }

    @Test func `the plugin's error arrives whole`() async throws {
        let test = try await opened("values")
        let values = try test.host.gate("gate")
        let named = try await failure { () throws(ConnectorError) in try await values.call("fail", 104) }
        let prepared = try await failure { () throws(ConnectorError) in
            try await values.withPrepared("fail") { fail throws(ConnectorError) in
                try fail.set(104 as Int64, at: 0)
                try fail()
            }
        }
        #expect(
            prepared.code == named.code && prepared.message == named.message && prepared.connector == named.connector
        )
        await test.host.close()
    }

    @Test func `an error without a message about a buffer that is too small has both sizes`() async throws {
        let test = try await opened("values")
        let gate = try test.host.gate("gate")
        let error = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("spill") { spill throws(ConnectorError) in
                try spill.set(1_000_000 as Int64, at: 0)
                try spill()
            }
        }
        #expect(error.code == .tooLarge)
        #expect(error.message == "spill needs 1000000 bytes for into, more than the buffer's 65536")
        await test.host.close()
    }

    @Test func `a length that its buffer cannot hold is the plugin's misbehaviour`() async throws {
        let test = try await opened("values")
        let gate = try test.host.gate("gate")
        let error = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("mixed") { mixed throws(ConnectorError) in
                try mixed.set(.string("long"), at: 0)
                try mixed()
            }
        }
        #expect(error.code == .misbehaved)
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
        await test.host.close()
    }

    @Test func `a function that blocks costs only its own caller time`() async throws {
        let test = try await opened("blocks")
        let gate = try test.host.gate("gate")
        @Sendable func number(_ name: String) async throws(ConnectorError) -> Int64 {
            try await gate.withPrepared(name) { call throws(ConnectorError) in
                try call()
                return try call.integer()
            }
        }
        let held = Task(executorPreference: threads) { try await number("hold") }
        while try await number("held") != 1 { try await Task.checkedYield() }
        #expect(try await number("pass") == 2)
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .seconds(30))
        let error = await #expect(throws: ConnectorError.self) { try await held.value }
        #expect(error?.code == .timedOut && error?.message == "hold did not return within 30.0 s", "\(error as Any)")
        while try await number("release") != 0 { try await Task.checkedYield() }
        #expect(try await number("pass") == 2)
        await test.host.close()
    }

    @Test func `a serial plugin has one caller inside at a time, whichever way the calls come`() async throws {
        let test = try await opened("serial")
        let gate = try test.host.gate("gate")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        if number.isMultiple(of: 2) {
                            _ = try await gate.call("counts")
                        } else {
                            try await gate.withPrepared("counts") { counts throws(ConnectorError) in try counts() }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await gate.call("counts")["most"]?.integer == 0)
        await test.host.close()
    }
}
