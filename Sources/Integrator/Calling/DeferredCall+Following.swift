// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension DeferredCall {
    /// Makes another call after this one.
    ///
    /// Next calls start once this call has completed and its call flow has released it: first those tied to success or
    /// failure, then those tied to completion, in the order in which they were added. They run concurrently. A cancelled
    /// or ignored call starts none.
    ///
    /// - Parameters:
    ///   - end: The outcome that starts it.
    ///   - call: The next call.
    /// - Returns: A call with one more follow-up call.
    public func next<OtherParameters, OtherValue>(
        on end: CallEnd,
        _ call: DeferredCall<OtherParameters, OtherValue>
    ) -> DeferredCall {
        switch end {
        case .success: afterSuccess { _ in call }
        case .failure: afterFailure { _ in call }
        case .completion: with { $0.followUps.afterCompletion.append { _ in call.call() } }
        }
    }

    /// Calls another call flow with the value of this call as its parameters.
    ///
    /// - Parameters:
    ///   - flow: The call flow that receives the value.
    ///   - configure: Adds observers, retries and follow-up calls to that call.
    /// - Returns: A call with one more follow-up call.
    public func forwardValue<Other>(
        to flow: CallFlow<Value, Other>,
        _ configure: @escaping @Sendable (DeferredCall<Value, Other>) -> DeferredCall<Value, Other> = { $0 }
    ) -> DeferredCall {
        afterSuccess { configure(flow.prepare($0)) }
    }

    /// Calls another call flow with the error of this call as its parameters.
    ///
    /// - Parameters:
    ///   - flow: The call flow that receives the error.
    ///   - configure: Adds observers, retries and follow-up calls to that call.
    /// - Returns: A call with one more follow-up call.
    public func forwardError<Other>(
        to flow: CallFlow<any Error, Other>,
        _ configure: @escaping @Sendable (DeferredCall<any Error, Other>) -> DeferredCall<any Error, Other> = { $0 }
    ) -> DeferredCall {
        afterFailure { configure(flow.prepare($0)) }
    }

    /// Repeats the call on another call flow with the same parameters and the same observers.
    ///
    /// Use it to show cached data first and then query a server: both report to the same observers, each with its own
    /// beginning, outcome and completion. The recall follows either outcome. Several recalls run one after the other.
    ///
    /// - Parameter flow: The call flow to call next.
    /// - Returns: A call with one more follow-up call.
    public func thenRecall(_ flow: CallFlow<Parameters, Value>) -> DeferredCall {
        thenRecall(flow.prepare(parameters))
    }

    /// Makes another call that reports to the observers of this call, and then to those of the other call.
    ///
    /// - Parameter call: A call with its own parameters and retries.
    /// - Returns: A call with one more follow-up call.
    public func thenRecall<Other>(_ call: DeferredCall<Other, Value>) -> DeferredCall {
        let recall = FollowUpCalls<Value>.Recall { observers, remaining in
            call.with {
                $0.observers = observers.followed(by: $0.observers)
                // The remaining recalls report to the observers of this call, and not to those of the other call.
                $0.followUps.recalls += remaining.map { recall in
                    FollowUpCalls<Value>.Recall { _, remaining in recall.start(observers, remaining) }
                }
            }.call()
        }
        return with { $0.followUps.recalls.append(recall) }
    }

    /// Adds a call that is made from the value.
    private func afterSuccess<OtherParameters, OtherValue>(
        _ make: @escaping @Sendable (Value) -> DeferredCall<OtherParameters, OtherValue>
    ) -> DeferredCall {
        with {
            $0.followUps.afterOutcome.append { result in
                guard case .success(let value) = result else { return nil }
                return make(value).call()
            }
        }
    }

    /// Adds a call that is made from the error.
    private func afterFailure<OtherParameters, OtherValue>(
        _ make: @escaping @Sendable (any Error) -> DeferredCall<OtherParameters, OtherValue>
    ) -> DeferredCall {
        with {
            $0.followUps.afterOutcome.append { result in
                guard case .failure(let error) = result else { return nil }
                return make(error).call()
            }
        }
    }
}
