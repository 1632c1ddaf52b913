// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension PreparedCall {
    /// Makes another call when this one has ended.
    ///
    /// Next calls start when this call has completed and left its integrator: first those tied to success or failure,
    /// then those tied to completion, in the order in which they were added. They do not wait for each other. A call
    /// that was cancelled or ignored starts none.
    ///
    /// - Parameters:
    ///   - end: The end that starts it.
    ///   - call: The next call.
    /// - Returns: A call with one more follower.
    public func next<OtherParameters, OtherValue>(
        on end: CallEnd,
        _ call: PreparedCall<OtherParameters, OtherValue>
    ) -> PreparedCall {
        switch end {
        case .success: afterSuccess { _ in call }
        case .failure: afterFailure { _ in call }
        case .completion: with { $0.followers.afterCompletion.append { _ in call.call() } }
        }
    }

    /// Calls another integrator with the value of this call as its parameters.
    ///
    /// - Parameters:
    ///   - integrator: The integrator that gets the value.
    ///   - configure: Adds observers, retries and followers to that call.
    /// - Returns: A call with one more follower.
    public func forwardValue<Other>(
        to integrator: Integrator<Value, Other>,
        _ configure: @escaping @Sendable (PreparedCall<Value, Other>) -> PreparedCall<Value, Other> = { $0 }
    ) -> PreparedCall {
        afterSuccess { configure(integrator.prepare($0)) }
    }

    /// Calls another integrator with the error of this call as its parameters.
    ///
    /// - Parameters:
    ///   - integrator: The integrator that gets the error.
    ///   - configure: Adds observers, retries and followers to that call.
    /// - Returns: A call with one more follower.
    public func forwardError<Other>(
        to integrator: Integrator<any Error, Other>,
        _ configure: @escaping @Sendable (PreparedCall<any Error, Other>) -> PreparedCall<any Error, Other> = { $0 }
    ) -> PreparedCall {
        afterFailure { configure(integrator.prepare($0)) }
    }

    /// Repeats the call on another integrator with the same parameters and the same observers.
    ///
    /// For a cache that is shown first and a server that is asked then: both report to the same observers, each its own
    /// beginning, outcome and completion. It follows whatever the outcome. Several recalls follow one after the other.
    ///
    /// - Parameter integrator: The integrator that is asked next.
    /// - Returns: A call with one more follower.
    public func thenRecall(_ integrator: Integrator<Parameters, Value>) -> PreparedCall {
        thenRecall(integrator.prepare(parameters))
    }

    /// Makes another call with the observers of this one, followed by its own.
    ///
    /// - Parameter call: A call with its own parameters and retries.
    /// - Returns: A call with one more follower.
    public func thenRecall<Other>(_ call: PreparedCall<Other, Value>) -> PreparedCall {
        let recall = Followers<Value>.Recalling { observers, remaining in
            call.with {
                $0.observers = observers.followed(by: $0.observers)
                $0.followers.recalls += remaining
            }.call()
        }
        return with { $0.followers.recalls.append(recall) }
    }

    /// Adds a call that is made from the value.
    private func afterSuccess<OtherParameters, OtherValue>(
        _ make: @escaping @Sendable (Value) -> PreparedCall<OtherParameters, OtherValue>
    ) -> PreparedCall {
        with {
            $0.followers.afterOutcome.append { result in
                guard case .success(let value) = result else { return nil }
                return make(value).call()
            }
        }
    }

    /// Adds a call that is made from the error.
    private func afterFailure<OtherParameters, OtherValue>(
        _ make: @escaping @Sendable (any Error) -> PreparedCall<OtherParameters, OtherValue>
    ) -> PreparedCall {
        with {
            $0.followers.afterOutcome.append { result in
                guard case .failure(let error) = result else { return nil }
                return make(error).call()
            }
        }
    }
}
