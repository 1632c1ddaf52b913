// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A call that is ready but not yet made.
///
/// An immutable value: each step of the chain returns a new one, so a deferred call can be kept, extended in two ways
/// and made any number of times. Observers may be asynchronous and may belong to an actor, `{ @MainActor in … }`; the
/// next phase waits until they return.
public struct DeferredCall<Parameters: Sendable, Value: Sendable>: Sendable {
    /// The call flow whose policy the call obeys.
    let flow: CallFlow<Parameters, Value>

    /// The provider's parameters.
    let parameters: Parameters

    /// The observers of the call.
    var observers = Observers<Value>()

    /// The calls that follow this one.
    var followers = Followers<Value>()

    /// The retry policy for a failing request.
    var retry = Retry.never

    /// A call without observers, followers or retries.
    init(_ flow: CallFlow<Parameters, Value>, parameters: Parameters) {
        self.flow = flow
        self.parameters = parameters
    }

    /// Makes the call.
    ///
    /// The call takes its place in the flow before this returns; everything else happens later.
    ///
    /// - Returns: The handle of the call, to await or cancel it.
    @discardableResult
    public func call() -> CallHandle<Value> {
        guard let turn = flow.turnstile.arrive() else { return CallHandle(nil) }
        let run = CallRun(
            turn: turn,
            turnstile: flow.turnstile,
            observers: observers,
            clock: flow.clock,
            produce: { [flow, parameters, retry] in
                try await retry.run(on: flow.clock) { try await flow.produce(parameters) }
            }
        )
        let call = run.start()
        guard !followers.isEmpty else { return CallHandle(call) }
        let following = Task { [followers, observers] in
            let ending = await call.value
            guard !ending.isCancelled, !Task.isCancelled else { return }
            await followers.run(after: ending.result, observers: observers)
        }
        return CallHandle(call, following: following)
    }

    /// Makes the call and awaits its value; cancelling the task cancels the call.
    ///
    /// - Returns: The value, once the completion was observed. Does not await the calls that follow.
    /// - Throws: The error of the call, `CancellationError` when it was cancelled, ``IgnoredCallError`` when ignored.
    public func value() async throws -> Value {
        let handle = call()
        return try await withTaskCancellationHandler {
            try await handle.value
        } onCancel: {
            handle.cancel()
        }
    }

    /// A copy with one change.
    func with(_ change: (inout DeferredCall) -> Void) -> DeferredCall {
        var copy = self
        change(&copy)
        return copy
    }
}
