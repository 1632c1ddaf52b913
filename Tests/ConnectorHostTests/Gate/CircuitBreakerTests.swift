// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost

/// When a breaker keeps calls from a gate.
@Suite struct CircuitBreakerTests {
    private static let second: UInt64 = 1_000_000_000
    private let away = ConnectorError(.unavailable, "the vendor is away", isRetryable: true)
    private let breaker = CircuitBreaker(
        BreakerPolicy(failures: 3, window: .seconds(60), probe: .seconds(10))
    )

    /// Admits a call, and ends it.
    @discardableResult
    private func call(_ error: ConnectorError?, at seconds: UInt64) throws -> CircuitBreaker.Change? {
        let ticket = try breaker.admit(at: seconds * Self.second)
        return breaker.ended(ticket, with: error, at: seconds * Self.second)
    }

    private func state(at seconds: UInt64) -> BreakerReport.State? {
        breaker.report(at: seconds * Self.second, Timestamp(nanoseconds: 0))?.state
    }

    private func open() throws {
        for time in 0..<2 { #expect(try call(away, at: UInt64(time)) == nil) }
        #expect(try call(away, at: 2) == .opened(until: 12 * Self.second))
    }

    @Test func `consecutive failures open the breaker, and a successful trial call closes it`() throws {
        try open()
        #expect(state(at: 3) == .open)
        #expect(breaker.refuses(at: 3 * Self.second))
        let error = try #require(throws: ConnectorError.self) { try breaker.admit(at: 3 * Self.second) }
        #expect(error.code == .notOpen && error.isRetryable && error.retryAfter == .seconds(9))
        #expect(error.cause == "the vendor is away [unavailable]")
        #expect(state(at: 12) == .halfOpen)
        #expect(try call(nil, at: 12) == .closed)
        let report = try #require(breaker.report(at: 12 * Self.second, Timestamp(nanoseconds: 0)))
        #expect(report == BreakerReport(state: .closed, openings: 1, refusals: 1))
    }

    @Test func `a trial that fails opens the breaker again`() throws {
        try open()
        #expect(try call(away, at: 12) == .opened(until: 22 * Self.second))
        #expect(state(at: 13) == .open)
        #expect(
            breaker.report(at: 13 * Self.second, Timestamp(nanoseconds: 0))?.nextTrialAt?.nanoseconds == 9 * Self.second
        )
    }

    @Test func `only one trial at a time is let through, until it has taken too long`() throws {
        try open()
        let trial = try breaker.admit(at: 12 * Self.second)
        #expect(throws: ConnectorError.self) { try breaker.admit(at: 13 * Self.second) }
        let second = try breaker.admit(at: 22 * Self.second)
        // A failure after so long says nothing new; a success does.
        #expect(breaker.ended(trial, with: away, at: 23 * Self.second) == nil)
        #expect(state(at: 23) == .halfOpen)
        #expect(breaker.ended(second, with: nil, at: 23 * Self.second) == .closed)
    }

    @Test func `a trial that is slower than the wait for the next one closes the breaker`() throws {
        try open()
        let slow = try breaker.admit(at: 12 * Self.second)
        let next = try breaker.admit(at: 22 * Self.second)
        #expect(breaker.ended(slow, with: nil, at: 23 * Self.second) == .closed)
        #expect(state(at: 23) == .closed)
        // It began before the breaker closed.
        #expect(breaker.ended(next, with: away, at: 24 * Self.second) == nil)
    }

    @Test func `a trial of the instance before, or from before a trial failed, does not close the breaker`() throws {
        try open()
        let first = try breaker.admit(at: 12 * Self.second)
        let second = try breaker.admit(at: 22 * Self.second)
        #expect(breaker.ended(second, with: away, at: 23 * Self.second) == .opened(until: 33 * Self.second))
        #expect(breaker.ended(first, with: nil, at: 24 * Self.second) == nil)
        let third = try breaker.admit(at: 33 * Self.second)
        breaker.instanceChanged()
        #expect(breaker.ended(third, with: nil, at: 34 * Self.second) == nil)
        #expect(state(at: 34) == .halfOpen)
        #expect(try call(nil, at: 34) == .closed)
    }

    @Test func `failures before a success, and failures long ago, do not count`() throws {
        for time in [0, 1] { try call(away, at: UInt64(time)) }
        try call(nil, at: 2)
        for time in [3, 4] { try call(away, at: UInt64(time)) }
        #expect(state(at: 4) == .closed)
        #expect(try call(away, at: 100) == nil)
        #expect(state(at: 100) == .closed)
    }

    @Test func `mistakes and cancellations by callers neither open nor close the breaker`() throws {
        for _ in 0..<9 { try call(ConnectorError(.invalid, "no"), at: 0) }
        #expect(state(at: 0) == .closed)
        try open()
        #expect(try call(ConnectorError(.cancelled, "no"), at: 12) == .halfOpened)
        #expect(state(at: 12) == .halfOpen)
        #expect(try call(nil, at: 12) == .closed)
    }

    @Test func `a vendor that asks for a longer wait gets it`() throws {
        let busy = ConnectorError(.rateLimited, "too many", isRetryable: true, retryAfter: .seconds(30))
        for time in 0..<3 { try call(busy, at: UInt64(time)) }
        #expect(state(at: 31) == .open)
        #expect(state(at: 32) == .halfOpen)
    }

    @Test func `the end of a call that began before the breaker opened changes nothing`() throws {
        let early = try breaker.admit(at: 0)
        try open()
        #expect(breaker.ended(early, with: nil, at: 3 * Self.second) == nil)
        #expect(state(at: 3) == .open)
    }

    @Test func `without a policy no call has to ask the breaker, until runners crash again and again`() throws {
        let breaker = CircuitBreaker(nil)
        #expect(!breaker.isInvolved && breaker.report(at: 0, Timestamp(nanoseconds: 0)) == nil)
        let crash = ConnectorError(.crashed, "it ended", isRetryable: true)
        for time in 0..<4 { #expect(breaker.lostRunner(crash, at: UInt64(time) * Self.second) == nil) }
        #expect(breaker.lostRunner(crash, at: 5 * Self.second) == 5)
        #expect(breaker.isInvolved)
        // The gate has healed: one call at a time.
        breaker.instanceChanged()
        let trial = try breaker.admit(at: 70 * Self.second)
        #expect(throws: ConnectorError.self) { try breaker.admit(at: 70 * Self.second) }
        #expect(breaker.ended(trial, with: crash, at: 71 * Self.second) == .halfOpened)
        #expect(breaker.lostRunner(crash, at: 71 * Self.second) == 6)
        let second = try breaker.admit(at: 140 * Self.second)
        #expect(breaker.ended(second, with: nil, at: 140 * Self.second) == .closed)
        #expect(!breaker.isInvolved)
        #expect(breaker.lostRunner(crash, at: 141 * Self.second) == nil)
    }

    @Test func `runners that crash now and then do not open the breaker`() {
        let breaker = CircuitBreaker(nil)
        let crash = ConnectorError(.crashed, "it ended", isRetryable: true)
        for minute in 0..<20 { #expect(breaker.lostRunner(crash, at: UInt64(minute) * 20 * Self.second) == nil) }
    }

    @Test func `another policy or another instance takes effect at once`() throws {
        try open()
        breaker.instanceChanged()
        #expect(state(at: 3) == .halfOpen)
        breaker.use(nil)
        #expect(!breaker.isInvolved)
    }

    @Test func `a report is read as it was written`() throws {
        let report = BreakerReport(
            state: .halfOpen,
            failures: 2,
            openings: 3,
            refusals: 4,
            nextTrialAt: Timestamp(nanoseconds: 5 * Self.second)
        )
        #expect(BreakerReport(json: report.json) == report)
    }
}
