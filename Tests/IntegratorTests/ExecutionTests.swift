// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Integrator

@Suite(.timeLimit(.minutes(10))) struct ExecutionTests {
    let provider = ManualProvider()
    let journal = Journal()

    @Test func `independent calls run at once`() async throws {
        let flow = CallFlow(provider: provider)
        let first = flow.prepare("a").call()
        let second = flow.prepare("b").call()
        await provider.request(for: "a")
        await provider.request(for: "b")
        provider.answer("b")
        #expect(try await second.value == "B")
        provider.answer("a")
        #expect(try await first.value == "A")
        #expect(provider.mostAtOnce == 2)
    }

    @Test func `only ignores a call while one runs, and its handle says so`() async throws {
        let flow = CallFlow(provider: provider, execution: .only)
        let first = flow.prepare("a").call()
        let ignored = flow.prepare("b").noted(in: journal, as: "b").call()
        #expect(!first.isIgnored)
        #expect(ignored.isIgnored)
        await #expect(throws: IgnoredCallError()) { try await ignored.value }
        ignored.cancel()
        await ignored.finish()
        provider.answer("a")
        #expect(try await first.value == "A")
        #expect(journal.lines == [])
        #expect(provider.asked.lines == ["a"])
    }

    @Test func `only throws a typed error from an ignored asynchronous call`() async throws {
        let flow = CallFlow(provider: provider, execution: .only)
        let first = flow.prepare("a").call()
        let error = await #expect(throws: IgnoredCallError.self) { try await flow.call("b") }
        #expect(error?.description.contains("another call") == true)
        provider.answer("a")
        #expect(try await first.value == "A")
    }

    @Test func `only takes another call as soon as the value of the earlier one is known`() async throws {
        let flow = CallFlow(provider: provider, execution: .only)
        provider.answer("a")
        provider.answer("b")
        #expect(try await flow.call("a") == "A")
        #expect(try await flow.call("b") == "B")
    }

    @Test func `queue runs calls one at a time in order of arrival`() async throws {
        let flow = CallFlow(provider: provider, execution: .queue)
        let names = (0..<20).map { "call\($0)" }
        let handles = names.map { flow.prepare($0).noted(in: journal, as: $0).call() }
        for name in names.reversed() { provider.answer(name) }
        for (name, handle) in zip(names, handles) { #expect(try await handle.value == name.uppercased()) }
        #expect(provider.asked.lines == names)
        #expect(provider.mostAtOnce == 1)
        #expect(
            journal.lines
                == names.flatMap { ["\($0) begins", "\($0) succeeds: \($0.uppercased())", "\($0) completes"] }
        )
    }

    @Test func `queue goes on after a failure`() async throws {
        let flow = CallFlow(provider: provider, execution: .queue)
        let first = flow.prepare("a").call()
        let second = flow.prepare("b").call()
        provider.fail("a")
        provider.answer("b")
        await #expect(throws: Failure(number: 1)) { try await first.value }
        #expect(try await second.value == "B")
    }

    @Test func `a queued call that is cancelled ends at once and never reaches the provider`() async throws {
        let flow = CallFlow(provider: provider, execution: .queue)
        let first = flow.prepare("a").call()
        let second = flow.prepare("b").noted(in: journal, as: "b").call()
        let third = flow.prepare("c").call()
        await provider.request(for: "a")
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(journal.lines == ["b begins", "b fails: CancellationError", "b completes"])
        provider.answer("a")
        provider.answer("c")
        #expect(try await first.value == "A")
        #expect(try await third.value == "C")
        #expect(provider.asked.lines == ["a", "c"])
    }

    @Test func `a cancelled call keeps its turn in the queue until the provider has returned`() async throws {
        let stubborn = ManualProvider(ignoresCancellation: true)
        let flow = CallFlow(provider: stubborn, execution: .queue)
        let first = flow.prepare("a").call()
        let second = flow.prepare("b").call()
        await stubborn.request(for: "a")
        first.cancel()
        await stubborn.cancellation(of: "a")
        stubborn.answer("b")
        stubborn.answer("a")
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value == "B")
        #expect(stubborn.mostAtOnce == 1)
    }

    @Test func `latest cancels the earlier call, which completes before the newer begins`() async throws {
        let flow = CallFlow(provider: provider, execution: .latest)
        let first = flow.prepare("a").noted(in: journal, as: "a").call()
        await provider.request(for: "a")
        let second = flow.prepare("b").noted(in: journal, as: "b").call()
        provider.answer("b")
        #expect(try await second.value == "B")
        await #expect(throws: CancellationError.self) { try await first.value }
        await provider.cancellation(of: "a")
        #expect(
            journal.lines == [
                "a begins", "a fails: CancellationError", "a completes",
                "b begins", "b succeeds: B", "b completes",
            ]
        )
    }

    @Test func `latest does not wait for a provider that ignores its cancellation`() async throws {
        let stubborn = ManualProvider(ignoresCancellation: true)
        let flow = CallFlow(provider: stubborn, execution: .latest)
        let first = flow.prepare("a").noted(in: journal, as: "a").call()
        await stubborn.request(for: "a")
        let second = flow.prepare("b").call()
        await stubborn.cancellation(of: "a")
        await #expect(throws: CancellationError.self) { try await first.value }
        stubborn.answer("b")
        #expect(try await second.value == "B")
        stubborn.answer("a")
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
    }

    @Test func `latest runs only the last of many calls to its end`() async throws {
        let flow = CallFlow(provider: provider, execution: .latest)
        let names = (0..<50).map { "call\($0)" }
        let handles = names.map { name in
            provider.answer("call49")
            return flow.prepare(name).noted(in: journal, as: name).call()
        }
        for handle in handles.dropLast() {
            await #expect(throws: CancellationError.self) { try await handle.value }
        }
        #expect(try await handles[49].value == "CALL49")
        #expect(journal.lines.suffix(3) == ["call49 begins", "call49 succeeds: CALL49", "call49 completes"])
        #expect(journal.lines.count == 150)
    }

    @Test func `a debounced call waits for a newer one before it begins`() async throws {
        let clock = ManualClock()
        let flow = CallFlow(provider: provider, execution: .latest(debounce: .seconds(1)), clock: clock)
        provider.answer("ab")
        let first = flow.prepare("a").call()
        await clock.sleeper()
        clock.advance(by: .milliseconds(600))
        let second = flow.prepare("ab").noted(in: journal, as: "ab").call()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(await clock.sleeper() == .seconds(1))
        clock.advance(by: .milliseconds(600))
        #expect(journal.lines == [])
        clock.advance(by: .milliseconds(400))
        #expect(try await second.value == "AB")
        #expect(provider.asked.lines == ["ab"])
    }

    @Test func `a debounced call can be cancelled while it waits`() async throws {
        let clock = ManualClock()
        let flow = CallFlow(provider: provider, execution: .latest(debounce: .seconds(1)), clock: clock)
        let call = flow.prepare("a").noted(in: journal, as: "a").call()
        await clock.sleeper()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
        #expect(provider.asked.lines == [])
    }
}
