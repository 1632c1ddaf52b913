// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One admitted call, from its admission to its completion.
struct CallRun<Value: Sendable>: Sendable {
    /// Tells the call when it may begin, and when it is superseded.
    let ticket: CallTicket

    /// The scheduler that admitted the call, and releases it when it ends.
    let scheduler: CallScheduler

    /// The observers of the call.
    let observers: Observers<Value>

    /// Measures delays.
    let clock: any Clock<Duration>

    /// The provider with parameters, model and retries.
    let produce: @Sendable () async throws -> Value

    /// The outcome: the provider's, or a cancellation sent on supersession without waiting for the provider.
    private let outcome = OneShot<Result<Value, any Error>>()

    /// Starts the call in a new task.
    func start() -> Task<CompletedCall<Value>, Never> {
        let task = Task { await run() }
        // The ticket keeps the closure, and the run the ticket: without the capture list they would keep each other.
        ticket.onSupersede { [outcome] in
            // Cancel first, so that the outcome counts as a cancellation.
            task.cancel()
            outcome.send(.failure(CancellationError()))
        }
        return task
    }

    /// Awaits permission to begin and reports the phases in order, on one path for every outcome.
    private func run() async -> CompletedCall<Value> {
        let mayExecute = await ticket.wait(on: clock)
        await observers.begin()
        var result = Result<Value, any Error>.failure(CancellationError())
        if mayExecute, !Task.isCancelled { result = await execute() }
        let isCancelled = Task.isCancelled
        if isCancelled { result = .failure(CancellationError()) }
        await observers.end(result)
        scheduler.release(ticket)
        return CompletedCall(result: result, isCancelled: isCancelled)
    }

    /// Runs the provider in a task that the call abandons when a newer call supersedes it.
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
