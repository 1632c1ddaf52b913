// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A call that has been described but not made.
///
/// An immutable value: each step of the chain returns a new one, so a deferred call can be kept, extended in two ways
/// and made any number of times. Observers may be asynchronous and may belong to an actor, `{ @MainActor in … }`; the
/// next phase waits until they return. An observer must not await another call of its own flow under ``Execution/queue``: that call
/// waits for this one to end, and so for the observer. Use ``next(on:_:)`` or ``forwardValue(to:_:)`` instead.
public struct DeferredCall<Parameters: Sendable, Value: Sendable>: Sendable {
    /// The call flow whose policy applies to the call.
    let flow: CallFlow<Parameters, Value>

    /// The provider's parameters.
    let parameters: Parameters

    /// The observers of the call.
    var observers = Observers<Value>()

    /// The calls that follow this one.
    var followUps = FollowUpCalls<Value>()

    /// The retry policy for a failing request.
    var retry = Retry.never

    /// Creates a call without observers, follow-up calls or retries.
    init(_ flow: CallFlow<Parameters, Value>, parameters: Parameters) {
        self.flow = flow
        self.parameters = parameters
    }

    /// Makes the call.
    ///
    /// The flow admits or ignores the call before this returns; everything else happens asynchronously.
    ///
    /// - Returns: The handle to await or cancel the call.
    @discardableResult
    public func call() -> CallHandle<Value> {
        guard let ticket = flow.scheduler.admit() else { return CallHandle(nil) }
        let run = CallRun(
            ticket: ticket,
            scheduler: flow.scheduler,
            observers: observers,
            clock: flow.clock,
            produce: { [flow, parameters, retry] in
                try await retry.run(on: flow.clock) { try await flow.produce(parameters) }
            }
        )
        let call = run.start()
        guard !followUps.isEmpty else { return CallHandle(call) }
        let following = Task { [followUps, observers] in
            let completed = await call.value
            guard !completed.isCancelled, !Task.isCancelled else { return }
            await followUps.run(after: completed.result, observers: observers)
        }
        return CallHandle(call, following: following)
    }

    /// Makes the call and awaits its value; cancelling the task cancels the call.
    ///
    /// - Returns: The value, once the completion observers have returned. Does not await the calls that follow.
    /// - Throws: The error of the call, `CancellationError` when it was cancelled, ``IgnoredCallError`` when ignored.
    public func value() async throws -> Value {
        let handle = call()
        return try await withTaskCancellationHandler {
            try await handle.value
        } onCancel: {
            handle.cancel()
        }
    }

    /// Returns a copy with one change.
    func with(_ change: (inout DeferredCall) -> Void) -> DeferredCall {
        var copy = self
        change(&copy)
        return copy
    }
}
