// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// The line before a plugin that takes one call at a time.
@Suite(.timeLimit(.minutes(5))) struct SerialGateTests {
    private let gate = SerialGate()
    private let clock = ManualHostClock()

    private func enter(by deadline: UInt64 = .max) async -> ConnectorError.Code? {
        do throws(ConnectorError) {
            try await gate.enter("call", by: deadline, clock)
            return nil
        } catch {
            return error.code
        }
    }

    /// Waits until so many calls stand in line.
    private func inLine(_ count: Int) async throws {
        while gate.waitingCount != count { try await Task.checkedYield() }
    }

    @Test func `calls enter in the order in which they came`() async throws {
        #expect(gate.enterNow())
        let order = Journal<Int>()
        var calls: [Task<Void, Never>] = []
        for number in 1...20 {
            calls.append(
                Task {
                    #expect(await enter() == nil)
                    order.note(number)
                    gate.leave()
                }
            )
            try await inLine(number)
        }
        gate.leave()
        for call in calls { await call.value }
        #expect(order.values == Array(1...20))
        #expect(gate.enterNow())
    }

    @Test func `calls that gave up leave nothing behind, however many they are`() async throws {
        #expect(gate.enterNow())
        for round in 1...200 {
            let calls = (0..<20).map { index in
                Task { await enter(by: index.isMultiple(of: 2) ? clock.now() + 1 : .max) }
            }
            try await inLine(20)
            await clock.timers(atLeast: 20)
            clock.advance(by: .nanoseconds(1))
            for (index, call) in calls.enumerated() {
                if !index.isMultiple(of: 2) { call.cancel() }
                #expect(await call.value == (index.isMultiple(of: 2) ? .timedOut : .cancelled), "round \(round)")
            }
            #expect(gate.waitingCount == 0)
            #expect(clock.timerCount == 0)
        }
        gate.leave()
        #expect(gate.enterNow())
    }

    @Test func `a call that gives up lets the next one enter`() async throws {
        #expect(gate.enterNow())
        let first = Task { await enter() }
        try await inLine(1)
        let second = Task { await enter() }
        try await inLine(2)
        first.cancel()
        #expect(await first.value == .cancelled)
        gate.leave()
        #expect(await second.value == nil)
        #expect(!gate.enterNow())
        gate.leave()
        #expect(gate.enterNow())
    }

    @Test func `a call that is cancelled before it waits takes no place in line`() async {
        #expect(gate.enterNow())
        let call = Task {
            while !Task.isCancelled { await Task.yield() }
            return await enter()
        }
        call.cancel()
        #expect(await call.value == .cancelled)
        #expect(gate.waitingCount == 0)
        gate.leave()
        #expect(gate.enterNow())
    }

    @Test func `entering, leaving and giving up race, and one call is inside at a time`() async {
        let inside = Journal<Int>()
        let results = await withTaskGroup(of: ConnectorError.Code?.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let call = Task {
                        let code = await enter()
                        guard code == nil else { return code }
                        inside.note(1)
                        await Task.yield()
                        inside.note(-1)
                        gate.leave()
                        return nil
                    }
                    if index.isMultiple(of: 3) { call.cancel() }
                    return await call.value
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 500)
        #expect(results.allSatisfy { $0 == nil || $0 == .cancelled })
        #expect(inside.values.enumerated().allSatisfy { $1 == ($0.isMultiple(of: 2) ? 1 : -1) })
        #expect(gate.waitingCount == 0)
        #expect(gate.enterNow())
    }
}
