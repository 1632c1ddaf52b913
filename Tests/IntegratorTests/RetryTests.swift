// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Integrator

@Suite(.timeLimit(.minutes(10))) struct RetryTests {
    let clock = ManualClock()
    let journal = Journal()

    /// A call flow that fails with `Failure(1)`, `Failure(2)` and so on, and then answers with the number of requests.
    private func flow(failures: Int) -> CallFlow<Void, Int> {
        CallFlow(clock: clock, FlakySource(failures: failures).request)
    }

    @Test func `a call retries until it succeeds, and is observed once`() async throws {
        let call = flow(failures: 2).prepare().retry(attempts: 3).noted(in: journal, as: "call").call()
        #expect(try await call.value == 3)
        #expect(journal.lines == ["call begins", "call succeeds: 3", "call completes"])
    }

    @Test func `a call fails with the last error when its attempts are used up`() async throws {
        let call = flow(failures: 3).prepare().retry(attempts: 3).call()
        await #expect(throws: Failure(number: 3)) { try await call.value }
    }

    @Test(arguments: [1, 0, -5])
    func `fewer than two attempts make one request`(attempts: Int) async throws {
        let call = flow(failures: 9).prepare().retry(attempts: attempts).call()
        await #expect(throws: Failure(number: 1)) { try await call.value }
    }

    @Test func `a call does not retry unless it is told to`() async throws {
        await #expect(throws: Failure(number: 1)) { try await flow(failures: 1).call() }
    }

    @Test func `an error that does not meet the condition is final`() async throws {
        let call = flow(failures: 9).prepare()
            .retry(attempts: 9) { ($0 as? Failure)?.number != 2 }
            .call()
        await #expect(throws: Failure(number: 2)) { try await call.value }
    }

    @Test func `a cancellation error that a provider throws on its own is not retried by default`() async throws {
        let requests = Journal()
        let flow = CallFlow<Void, Int> { _ in
            requests.note("asked")
            throw CancellationError()
        }
        await #expect(throws: CancellationError.self) { try await flow.prepare().retry(attempts: 3).value() }
        #expect(requests.lines == ["asked"])
    }

    @Test func `a constant delay passes between attempts on the clock of the call flow`() async throws {
        let call = flow(failures: 2).prepare().retry(attempts: 3, delay: .constant(.seconds(5))).call()
        #expect(await clock.sleeper() == .seconds(5))
        clock.advance(by: .seconds(5))
        #expect(await clock.sleeper() == .seconds(5))
        clock.advance(by: .seconds(5))
        #expect(try await call.value == 3)
    }

    @Test func `a computed delay knows the failures and the error`() async throws {
        let delay = RetryDelay { failures, error in .seconds(failures * 10 + ((error as? Failure)?.number ?? 0)) }
        let call = flow(failures: 2).prepare().retry(attempts: 3, delay: delay).call()
        #expect(await clock.sleeper() == .seconds(11))
        clock.advance(by: .seconds(11))
        #expect(await clock.sleeper() == .seconds(22))
        clock.advance(by: .seconds(22))
        #expect(try await call.value == 3)
    }

    @Test func `a cancelled call does not wait for its delay`() async throws {
        let call = flow(failures: 9).prepare()
            .retry(attempts: 9, delay: .constant(.seconds(5)))
            .noted(in: journal, as: "call")
            .call()
        await clock.sleeper()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.lines == ["call begins", "call fails: CancellationError", "call completes"])
    }

    @Test func `a newer call ends the delay of the latest one`() async throws {
        let provider = ManualProvider()
        let flow = CallFlow(provider: provider, execution: .latest, clock: clock)
        provider.fail("a")
        provider.answer("b")
        let first = flow.prepare("a").retry(attempts: 2, delay: .constant(.seconds(5))).call()
        await clock.sleeper()
        #expect(try await flow.call("b") == "B")
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    @Test func `an exponential delay grows up to its limit`() {
        let delay = RetryDelay.exponential(.seconds(1), factor: 3, maximum: .seconds(20))
        let waits = (1...5).map { delay.duration(after: $0, Failure(number: $0)) }
        #expect(waits == [.seconds(1), .seconds(3), .seconds(9), .seconds(20), .seconds(20)])
    }

    @Test(arguments: [1e300, .infinity, .nan])
    func `an exponential delay with an absurd factor stays within its limit`(factor: Double) {
        let delay = RetryDelay.exponential(.seconds(1), factor: factor, maximum: .seconds(20))
        #expect(delay.duration(after: 50, Failure(number: 1)) == .seconds(20))
        #expect(delay.duration(after: .max, Failure(number: 1)) == .seconds(20))
    }

    @Test(arguments: [1.0, 0.999_999, 0])
    func `an exponential delay that does not grow is computed at once`(factor: Double) {
        let delay = RetryDelay.exponential(.seconds(1), factor: factor)
        #expect(delay.duration(after: .max, Failure(number: 1)) == (factor == 1 ? .seconds(1) : .zero))
        #expect(RetryDelay.exponential(.zero).duration(after: .max, Failure(number: 1)) == .zero)
    }

    @Test func `a negative delay counts as zero`() {
        #expect(RetryDelay.constant(.seconds(-1)).duration(after: 1, Failure(number: 1)) == .zero)
        let shrinking = RetryDelay.exponential(.seconds(1), factor: -2)
        #expect(shrinking.duration(after: 2, Failure(number: 1)) == .zero)
    }
}

/// Fails a number of times, then answers with the number of requests.
private final class FlakySource: Sendable {
    /// How many requests fail.
    let failures: Int
    /// How many requests were made.
    let made = Atomic(0)

    /// A source that was not asked yet.
    init(failures: Int) { self.failures = failures }

    /// Counts the request, then fails or answers.
    func request(_: Void) async throws -> Int {
        let number = made.add(1, ordering: .relaxed).newValue
        if number <= failures { throw Failure(number: number) }
        return number
    }
}
