// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform

/// Many calls of one operation: what a plugin in the process and one in a runner have in common, and what goes wrong.
@Suite(.timeLimit(.minutes(2)), .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
struct BatchTests {
    enum Place: String, CaseIterable {
        case none, process
    }

    private static let threads = WorkerThreads()

    private func opened(_ plugin: String, in place: Place) async throws -> TestHost {
        let settings = #""probe": "off", "isolation": "\#(place.rawValue)", "sandbox": "off""#
        let test = try TestHost(TestHost.leaf("gate", plugin: plugin, settings: settings))
        let report = await test.host.open()
        #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
        return test
    }

    /// Calls `judge` with each status.
    private func judge(_ statuses: [Int64], of test: TestHost) async throws(ConnectorError) -> [Int64] {
        try await test.host.gate("gate").withPrepared("judge") { judge throws(ConnectorError) in
            var answers: [Int64] = []
            try judge.batch(statuses.count) { index throws(ConnectorError) in
                try judge.set(statuses[index], at: 0)
            } take: { _ throws(ConnectorError) in
                answers.append(try judge.integer())
            }
            return answers
        }
    }

    /// How often `judge` was called in this process, or in the runner.
    private func judged(_ test: TestHost) async throws(ConnectorError) -> Int64 {
        try await test.host.gate("gate").call("judged").integer ?? -1
    }

    @Test(arguments: Place.allCases, [0, 1, 2, 15, 16, 17, 5000])
    func `each call is made once, and answers are taken in the order of the calls`(_ place: Place, _ count: Int)
        async throws
    {
        let test = try await opened("crashes", in: place)
        let before = try await judged(test)
        #expect(try await judge(Array(repeating: 0, count: count), of: test) == Array(repeating: 0, count: count))
        #expect(try await judged(test) - before == Int64(count))
        await test.host.close()
    }

    /// Around the sizes of the buffer, of a round and of the rings, in an order that mixes them.
    @Test(arguments: Place.allCases) func `texts of every size arrive whole`(_ place: Place) async throws {
        let test = try await opened("values", in: place)
        let sizes = [0, 1, 65_000, 300, 65_536, 4096, 1 << 20, 7, 30_000, 30_000, 30_000, 5, 65_480, 65_496, 65_520]
        let texts = sizes.map { size in (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) } }
        let back = try await test.host.gate("gate").withPrepared("reverse") { reverse throws(ConnectorError) in
            var back: [[UInt8]] = []
            try reverse.batch(2 * texts.count) { index throws(ConnectorError) in
                try reverse.set(texts[index % texts.count], at: 0)
            } take: { _ throws(ConnectorError) in
                back.append(try reverse.bytes())
            }
            return back
        }
        #expect(back == (texts + texts).map { $0.reversed() })
        await test.host.close()
    }

    @Test(arguments: Place.allCases) func `no call is made after one that failed`(_ place: Place) async throws {
        let test = try await opened("crashes", in: place)
        let before = try await judged(test)
        let error = try await failure { () throws(ConnectorError) in
            try await judge([0, 0, 104, 0, 0, 104, 0], of: test)
        }
        #expect(error.code == .failed && error.message == "it is judged" && error.connector == "gate", "\(error)")
        #expect(try await judged(test) - before == 3)
        #expect(try await judge([0, 0], of: test) == [0, 0])
        await test.host.close()
    }

    @Test(arguments: Place.allCases) func `an error of the caller ends the batch, after the calls before it`(
        _ place: Place
    )
        async throws
    {
        let test = try await opened("crashes", in: place)
        let gate = try test.host.gate("gate")
        let refusal = ConnectorError(.conflict, "no more")
        let before = try await judged(test)
        var taken = 0
        let prepared = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("judge") { judge throws(ConnectorError) in
                try judge.batch(100) { index throws(ConnectorError) in
                    if index == 20 { throw refusal }
                    try judge.set(0 as Int64, at: 0)
                } take: { _ in
                    taken += 1
                }
            }
        }
        #expect(prepared.message == "no more" && taken == 20)
        #expect(try await judged(test) - before == 20)
        let read = try await failure { () throws(ConnectorError) in
            try await gate.withPrepared("judge") { judge throws(ConnectorError) in
                try judge.batch(100) { _ throws(ConnectorError) in
                    try judge.set(0 as Int64, at: 0)
                } take: { index throws(ConnectorError) in
                    if index == 7 { throw refusal }
                }
            }
        }
        #expect(read.message == "no more")
        #expect(try await judge([0, 0, 0], of: test) == [0, 0, 0])
        await test.host.close()
    }

    @Test(arguments: Place.allCases) func `a parameter without a value is an error`(_ place: Place) async throws {
        let test = try await opened("crashes", in: place)
        let error = try await failure { () throws(ConnectorError) in
            try await test.host.gate("gate").withPrepared("judge") { judge throws(ConnectorError) in
                try judge.batch(3) { _ in
                } take: { _ in
                }
            }
        }
        #expect(error.code == .invalid && error.message.contains("\"status\""), "\(error)")
        await test.host.close()
    }

    @Test func `a plugin that ends its runner fails the batch`() async throws {
        let test = try await opened("crashes", in: .process)
        let error = try await failure { () throws(ConnectorError) in
            try await test.host.gate("gate").withPrepared("crash") { crash throws(ConnectorError) in
                try crash.batch(50) { index throws(ConnectorError) in
                    try crash.set(Array((index == 30 ? "abort" : "").utf8), at: 0)
                } take: { _ in
                }
            }
        }
        #expect(error.code == .crashed, "\(error)")
        await test.host.close()
    }

    @Test func `a batch whose caller takes its time does not hold up other calls when the runner ends`() async throws {
        let test = try await opened("crashes", in: .process)
        let gate = try test.host.gate("gate")
        let channel = try test.remoteChannel("gate")
        let (isInside, mayReturn) = (OneShot<Void>(), Monitor(false))
        let batch = Task(executorPreference: Self.threads) {
            try await failure { () throws(ConnectorError) in
                try await gate.withPrepared("judge") { judge throws(ConnectorError) in
                    try judge.batch(1) { _ throws(ConnectorError) in
                        isInside.send()
                        mayReturn.wait { $0 ? .proceed(()) : .wait(until: nil) }
                        try judge.set(0 as Int64, at: 0)
                    } take: { _ in
                    }
                }
            }
        }
        await isInside.wait()
        let call = Task {
            try await failure { () throws(ConnectorError) in
                try await test.call("gate", "begin", ["how": "pending"])
            }
        }
        while !channel.state.withLock({ state in state.pending.values.contains { $0.name == "begin" } }) {
            try await Task.checkedYield()
        }
        channel.runner.stop("the test ends it")
        #expect(try await call.value.code == .crashed)
        mayReturn.withLock { $0 = true }
        mayReturn.signal()
        #expect(try await batch.value.code == .crashed)
        await test.host.close()
    }

    @Test func `a late answer ends the batch, and its lane is used again`() async throws {
        let test = try await opened("blocks", in: .process)
        let gate = try test.host.gate("gate")
        @Sendable func numbers(_ name: String, _ count: Int) async throws(ConnectorError) -> [Int64] {
            try await gate.withPrepared(name) { call throws(ConnectorError) in
                var numbers: [Int64] = []
                try call.batch(count) { _ in
                } take: { _ throws(ConnectorError) in
                    numbers.append(try call.integer())
                }
                return numbers
            }
        }
        let held = Task(executorPreference: Self.threads) { try await numbers("hold", 3) }
        while try await numbers("held", 2).last != 1 { try await Task.checkedYield() }
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .seconds(30))
        let error = await #expect(throws: ConnectorError.self) { try await held.value }
        #expect(error?.code == .timedOut && error?.message == "hold did not return within 30.0 s", "\(error as Any)")
        // The two calls that were sent after it are never made: they would block again.
        while try await numbers("freed", 1).last != 1 {
            _ = try await numbers("release", 1)
            try await Task.checkedYield()
        }
        for _ in 0..<40 { #expect(try await numbers("pass", 3).count == 3) }
        #expect(try await numbers("freed", 1).last == 1)
        await test.host.close()
    }

    @Test func `a serial plugin takes no other call during a batch`() async throws {
        let test = try await opened("serial", in: .process)
        let gate = try test.host.gate("gate")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask(executorPreference: Self.threads) {
                    for _ in 0..<20 {
                        if number.isMultiple(of: 2) {
                            _ = try await gate.call("counts")
                        } else {
                            try await gate.withPrepared("counts") { counts throws(ConnectorError) in
                                try counts.batch(5) { _ in
                                } take: { _ in
                                }
                            }
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
