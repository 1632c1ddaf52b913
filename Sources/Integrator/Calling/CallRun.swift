// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One call on its way from its turn to its completion.
struct CallRun<Value: Sendable>: Sendable {
    /// The call's place among the others.
    let turn: Turn

    /// The turnstile that the call leaves through.
    let turnstile: Turnstile

    /// The observers of the call.
    let observers: Observers<Value>

    /// Measures delays.
    let clock: any Clock<Duration>

    /// The provider with parameters, model and retries.
    let produce: @Sendable () async throws -> Value

    /// The outcome of the call: the provider's, or a supersession that does not wait for the provider.
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
            // Cancel first, so that the outcome counts as a cancellation.
            task.cancel()
            outcome.send(.failure(CancellationError()))
        }
        return task
    }

    /// Awaits the turn and reports the phases in order, on one path for every outcome.
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

    /// Asks the provider, in a task that the call can abandon when a newer call supersedes it.
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
