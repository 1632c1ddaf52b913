// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Integrator

@Suite(.timeLimit(.minutes(10))) struct FollowingTests {
    let journal = Journal()
    let good = CallFlow { (word: String) in word.uppercased() }
    let bad = CallFlow<String, String> { _ in throw Failure(number: 4) }

    @Test func `next on success follows a call that succeeded, after its completion`() async {
        await good.prepare("a").noted(in: journal, as: "a")
            .next(on: .success, good.prepare("b").noted(in: journal, as: "b"))
            .next(on: .failure, good.prepare("c").noted(in: journal, as: "c"))
            .call().finish()
        #expect(
            journal.lines == [
                "a begins", "a succeeds: A", "a completes",
                "b begins", "b succeeds: B", "b completes",
            ]
        )
    }

    @Test func `next on failure follows a call that failed`() async {
        await bad.prepare("a").noted(in: journal, as: "a")
            .next(on: .success, good.prepare("b").noted(in: journal, as: "b"))
            .next(on: .failure, good.prepare("c").noted(in: journal, as: "c"))
            .call().finish()
        #expect(
            journal.lines == [
                "a begins", "a fails: Failure", "a completes",
                "c begins", "c succeeds: C", "c completes",
            ]
        )
    }

    @Test func `next on completion follows whatever the outcome`() async {
        for flow in [good, bad] {
            await flow.prepare("a")
                .next(on: .completion, good.prepare("b").noted(in: journal, as: "b"))
                .call().finish()
        }
        #expect(
            journal.lines == [
                "b begins", "b succeeds: B", "b completes",
                "b begins", "b succeeds: B", "b completes",
            ]
        )
    }

    @Test func `next calls take their places in order, those of completion last`() async {
        let queue = CallFlow(execution: .queue) { (word: String) in word }
        await good.prepare("a")
            .next(on: .completion, queue.prepare("3").noted(in: journal, as: "3"))
            .next(on: .success, queue.prepare("1").noted(in: journal, as: "1"))
            .next(on: .success, queue.prepare("2").noted(in: journal, as: "2"))
            .call().finish()
        #expect(journal.lines.filter { $0.hasSuffix("begins") } == ["1 begins", "2 begins", "3 begins"])
    }

    @Test func `a next call on the same exclusive call flow is not ignored`() async {
        let only = CallFlow(execution: .only) { (word: String) in word }
        await only.prepare("a")
            .next(on: .success, only.prepare("b").noted(in: journal, as: "b"))
            .call().finish()
        #expect(journal.lines == ["b begins", "b succeeds: b", "b completes"])
    }

    @Test func `the value is known before the next call has ended`() async throws {
        let provider = ManualProvider()
        let call = good.prepare("a").next(on: .success, CallFlow(provider: provider).prepare("b")).call()
        #expect(try await call.value == "A")
        await provider.request(for: "b")
        provider.answer("b")
        await call.finish()
        #expect(provider.asked.lines == ["b"])
    }

    @Test func `a forwarded value is the parameter of another call flow`() async {
        let length = CallFlow { (word: String) in word.count }
        await good.prepare("four")
            .forwardValue(to: length) { [journal] in $0.noted(in: journal, as: "length") }
            .call().finish()
        #expect(journal.lines == ["length begins", "length succeeds: 4", "length completes"])
    }

    @Test func `a forwarded error is the parameter of another call flow`() async {
        let explain = CallFlow { (error: any Error) in "number \((error as? Failure)?.number ?? 0)" }
        await bad.prepare("a")
            .forwardError(to: explain) { [journal] in $0.noted(in: journal, as: "explain") }
            .call().finish()
        #expect(journal.lines == ["explain begins", "explain succeeds: number 4", "explain completes"])
    }

    @Test func `nothing is forwarded for the other outcome`() async {
        let length = CallFlow { [journal] (word: String) in journal.note(word) }
        let explain = CallFlow { [journal] (error: any Error) in journal.note("\(error)") }
        await bad.prepare("a").forwardValue(to: length).call().finish()
        await good.prepare("a").forwardError(to: explain).call().finish()
        #expect(journal.lines == [])
    }

    @Test func `a recall asks another call flow with the same parameters and observers`() async throws {
        let cache = CallFlow { (word: String) in "cached \(word)" }
        let server = CallFlow { (word: String) in "served \(word)" }
        let call = cache.prepare("a").thenRecall(server).noted(in: journal, as: "a").call()
        #expect(try await call.value == "cached a")
        await call.finish()
        #expect(
            journal.lines == [
                "a begins", "a succeeds: cached a", "a completes",
                "a begins", "a succeeds: served a", "a completes",
            ]
        )
    }

    @Test func `a recall follows a failure too, and several follow one another`() async {
        let gate = ManualProvider()
        let call = bad.prepare("a").thenRecall(CallFlow(provider: gate)).thenRecall(good)
            .noted(in: journal, as: "a").call()
        await gate.request(for: "a")
        #expect(journal.lines == ["a begins", "a fails: Failure", "a completes", "a begins"])
        gate.fail("a")
        await call.finish()
        #expect(
            journal.lines.dropFirst(3) == [
                "a begins", "a fails: Failure", "a completes",
                "a begins", "a succeeds: A", "a completes",
            ]
        )
    }

    @Test func `a recall may have parameters, observers and retries of its own`() async {
        let server = CallFlow { (number: Int) in "served \(number)" }
        await good.prepare("a")
            .thenRecall(server.prepare(3).onCompletion { [journal] in journal.note("own") })
            .noted(in: journal, as: "a")
            .call().finish()
        #expect(journal.lines.dropFirst(3) == ["a begins", "a succeeds: served 3", "a completes", "own"])
    }

    @Test func `observers of one recall are not told of the next`() async {
        let first = CallFlow { (word: String) in "first \(word)" }
        let second = CallFlow { (word: String) in "second \(word)" }
        await good.prepare("a")
            .thenRecall(first.prepare("b").onSuccess { [journal] in journal.note("own of first: \($0)") })
            .thenRecall(second.prepare("c").onSuccess { [journal] in journal.note("own of second: \($0)") })
            .onSuccess { [journal] in journal.note("all: \($0)") }
            .call().finish()
        #expect(
            journal.lines == [
                "all: A",
                "all: first b", "own of first: first b",
                "all: second c", "own of second: second c",
            ]
        )
    }

    @Test func `a cancelled call is followed by nothing`() async {
        let provider = ManualProvider()
        let call = CallFlow(provider: provider).prepare("a")
            .next(on: .failure, good.prepare("b").noted(in: journal, as: "b"))
            .next(on: .completion, good.prepare("c").noted(in: journal, as: "c"))
            .thenRecall(good)
            .noted(in: journal, as: "a")
            .call()
        await provider.request(for: "a")
        call.cancel()
        await call.finish()
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
    }

    @Test func `an overtaken call is followed by nothing`() async throws {
        let provider = ManualProvider()
        let search = CallFlow(provider: provider, execution: .latest)
        let first = search.prepare("a").thenRecall(good).noted(in: journal, as: "a").call()
        await provider.request(for: "a")
        provider.answer("b")
        #expect(try await search.call("b") == "B")
        await first.finish()
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
    }

    @Test func `an ignored call is followed by nothing`() async throws {
        let provider = ManualProvider()
        let only = CallFlow(provider: provider, execution: .only)
        let running = only.prepare("a").call()
        let ignored = only.prepare("b")
            .next(on: .completion, good.prepare("c").noted(in: journal, as: "c"))
            .call()
        await ignored.finish()
        provider.answer("a")
        #expect(try await running.value == "A")
        #expect(journal.lines == [])
    }

    @Test func `cancelling the handle cancels the call that follows`() async throws {
        let provider = ManualProvider()
        let call = good.prepare("a")
            .next(on: .success, CallFlow(provider: provider).prepare("b").noted(in: journal, as: "b"))
            .call()
        await provider.request(for: "b")
        call.cancel()
        await provider.cancellation(of: "b")
        await call.finish()
        #expect(try await call.value == "A")
        #expect(journal.lines == ["b begins", "b fails: CancellationError", "b completes"])
    }
}
