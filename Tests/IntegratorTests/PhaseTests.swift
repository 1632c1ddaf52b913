// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Testing

@testable import Integrator

@Suite(.timeLimit(.minutes(10))) struct PhaseTests {
    let provider = ManualProvider()
    let journal = Journal()

    @Test func `a call begins, succeeds and completes`() async throws {
        provider.answer("a")
        let call = CallFlow(provider: provider).prepare("a").noted(in: journal, as: "a").call()
        #expect(try await call.value == "A")
        #expect(journal.lines == ["a begins", "a succeeds: A", "a completes"])
    }

    @Test func `a call begins, fails and completes`() async throws {
        provider.fail("a")
        let call = CallFlow(provider: provider).prepare("a").noted(in: journal, as: "a").call()
        await #expect(throws: Failure(number: 1)) { try await call.value }
        #expect(journal.lines == ["a begins", "a fails: Failure", "a completes"])
    }

    @Test func `the beginning is observed before the provider is asked`() async throws {
        let flow = CallFlow { [journal] (_: Void) in journal.note("asked") }
        try await flow.prepare().onBeginning { [journal] in journal.note("begins") }.value()
        #expect(journal.lines == ["begins", "asked"])
    }

    @Test func `the next phase waits for an observer to return`() async throws {
        let gate = OneShot<Void>()
        let reached = OneShot<Void>()
        provider.answer("a")
        let call = CallFlow(provider: provider).prepare("a")
            .onBeginning { [journal] in
                reached.send()
                await gate.wait()
                journal.note("first")
            }
            .noted(in: journal, as: "a")
            .call()
        await reached.wait()
        #expect(provider.asked.lines == [])
        gate.send()
        _ = try await call.value
        #expect(journal.lines == ["first", "a begins", "a succeeds: A", "a completes"])
    }

    @Test func `observers of one phase are told in the order of registration`() async throws {
        provider.answer("a")
        _ = try await CallFlow(provider: provider).prepare("a")
            .onCompletion { [journal] in journal.note("1") }
            .onCompletion { [journal] in journal.note("2") }
            .onCompletion { [journal] in journal.note("3") }
            .value()
        #expect(journal.lines == ["1", "2", "3"])
    }

    @Test func `a step of the chain leaves the value that it was called on unchanged`() async throws {
        provider.answer("a")
        let plain = CallFlow(provider: provider).prepare("a")
        let noted = plain.noted(in: journal, as: "a")
        _ = try await plain.value()
        #expect(journal.lines == [])
        _ = try await noted.value()
        _ = try await noted.value()
        #expect(journal.lines.count == 6)
    }

    @Test @MainActor func `an observer may belong to the main actor`() async throws {
        final class Screen {
            var text = ""
        }
        let screen = Screen()
        provider.answer("a")
        _ = try await CallFlow(provider: provider).prepare("a")
            .onBeginning { @MainActor in screen.text = "loading" }
            .onSuccess { @MainActor value in screen.text += ", \(value)" }
            .value()
        #expect(screen.text == "loading, A")
    }

    @Test func `cancelling the handle reaches the provider and ends in failure and completion`() async throws {
        let call = CallFlow(provider: provider).prepare("a").noted(in: journal, as: "a").call()
        await provider.request(for: "a")
        call.cancel()
        await provider.cancellation(of: "a")
        await #expect(throws: CancellationError.self) { try await call.value }
        call.cancel()
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
    }

    @Test func `a cancelled call fails even if the provider answers`() async throws {
        let stubborn = ManualProvider(ignoresCancellation: true)
        let call = CallFlow(provider: stubborn).prepare("a").noted(in: journal, as: "a").call()
        await stubborn.request(for: "a")
        call.cancel()
        await stubborn.cancellation(of: "a")
        stubborn.answer("a")
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
    }

    @Test func `cancelling the awaiting task reaches the provider`() async throws {
        let flow = CallFlow(provider: provider)
        let task = Task { try await flow.call("a") }
        await provider.request(for: "a")
        task.cancel()
        await provider.cancellation(of: "a")
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a call made in a cancelled task is observed but never asks the provider`() async throws {
        let gate = OneShot<Void>()
        let prepared = CallFlow(provider: provider, execution: .queue).prepare("a").noted(in: journal, as: "a")
        let blocker = prepared.flow.prepare("blocker").call()
        await provider.request(for: "blocker")
        let task = Task {
            await gate.wait()
            return try await prepared.value()
        }
        task.cancel()
        gate.send()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
        #expect(provider.asked.lines == ["blocker"])
        blocker.cancel()
        await blocker.finish()
    }

    @Test func `a call cancelled during its beginning never asks the provider`() async throws {
        let reached = OneShot<Void>()
        let gate = OneShot<Void>()
        let call = CallFlow(provider: provider).prepare("a")
            .onBeginning {
                reached.send()
                await gate.wait()
            }
            .noted(in: journal, as: "a")
            .call()
        await reached.wait()
        call.cancel()
        gate.send()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.lines == ["a begins", "a fails: CancellationError", "a completes"])
        #expect(provider.asked.lines == [])
    }

    @Test func `cancelling after the end changes nothing`() async throws {
        provider.answer("a")
        let call = CallFlow(provider: provider).prepare("a").noted(in: journal, as: "a").call()
        _ = try await call.value
        call.cancel()
        #expect(try await call.value == "A")
        #expect(journal.lines == ["a begins", "a succeeds: A", "a completes"])
    }

    @Test(arguments: [Execution.independent, .only, .queue, .latest])
    func `a call that has ended keeps neither its value nor its observers`(_ execution: Execution) async throws {
        let value = OneShot<Void>()
        let observer = OneShot<Void>()
        let flow = CallFlow(execution: execution) { Remains(value) }
        func call() async {
            let remains = Remains(observer)
            await flow.prepare().onSuccess { _ in withExtendedLifetime(remains) {} }.call().finish()
        }
        await call()
        #expect(await value.waitUnlessCancelled() != nil)
        #expect(await observer.waitUnlessCancelled() != nil)
        // The flow lives on, and keeps nothing of the call.
        withExtendedLifetime(flow) {}
    }

    @Test func `a call goes on when its handle is dropped`() async throws {
        let done = OneShot<String>()
        provider.answer("a")
        CallFlow(provider: provider).prepare("a").onSuccess { done.send($0) }.call()
        #expect(await done.wait() == "A")
    }
}

/// Says when nothing keeps it any more.
private final class Remains: Sendable {
    /// Sent at the end.
    private let isGone: OneShot<Void>

    /// - Parameter isGone: Sent when nothing keeps the object any more.
    init(_ isGone: OneShot<Void>) { self.isGone = isGone }

    deinit { isGone.send() }
}
