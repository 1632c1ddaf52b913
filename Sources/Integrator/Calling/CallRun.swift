// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorOneShot

/// One call on its way from its turn to its completion.
struct CallRun<Value: Sendable>: Sendable {
    /// The place of the call among the others.
    let turn: Turn

    /// Where the call leaves when it is over.
    let turnstile: Turnstile

    /// Who is told.
    let observers: Observers<Value>

    /// Measures delays.
    let clock: any Clock<Duration>

    /// The provider with parameters, model and retries.
    let produce: @Sendable () async throws -> Value

    /// What the call ends with: the provider's outcome, or a supersession that does not wait for it.
    private let outcome = OneShot<Result<Value, any Error>>()

    /// Describes a call that has taken its turn.
    init(
        turn: Turn,
        turnstile: Turnstile,
        observers: Observers<Value>,
        clock: any Clock<Duration>,
        produce: @escaping @Sendable () async throws -> Value
    ) {
        self.turn = turn
        self.turnstile = turnstile
        self.observers = observers
        self.clock = clock
        self.produce = produce
    }

    /// Starts the call in a task of its own.
    func start() -> Task<CallEnding<Value>, Never> {
        let task = Task { await run() }
        turn.onSupersede {
            // Cancelled first, so that the outcome is seen as a cancellation.
            task.cancel()
            outcome.send(.failure(CancellationError()))
        }
        return task
    }

    /// Waits for the turn, and reports the phases in their order: one path, whatever happens.
    private func run() async -> CallEnding<Value> {
        let mayExecute = await turn.wait(on: clock)
        await observers.begin()
        var result = Result<Value, any Error>.failure(CancellationError())
        if mayExecute, !Task.isCancelled { result = await execute() }
        let isCancelled = Task.isCancelled
        if isCancelled { result = .failure(CancellationError()) }
        await observers.end(result)
        turnstile.leave(turn)
        return CallEnding(result: result, isCancelled: isCancelled)
    }

    /// Asks the provider, in a task that can be left behind when a newer call takes over.
    private func execute() async -> Result<Value, any Error> {
        let work = Task {
            do {
                outcome.send(.success(try await produce()))
            } catch {
                outcome.send(.failure(error))
            }
        }
        return await withTaskCancellationHandler {
            await outcome.wait()
        } onCancel: {
            work.cancel()
        }
    }
}
