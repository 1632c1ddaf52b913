// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension DeferredCall {
    /// Adds an observer of the beginning: the moment the provider is about to be asked.
    ///
    /// A call that is cancelled before that moment still reports its beginning before its failure.
    ///
    /// - Parameter observer: Called once, before any other phase.
    /// - Returns: A call with one more observer.
    public func onBeginning(_ observer: @escaping @Sendable () async -> Void) -> DeferredCall {
        with { $0.observers.beginning.append(observer) }
    }

    /// Adds an observer of success.
    ///
    /// - Parameter observer: Called with the value, after the beginning and before the completion.
    /// - Returns: A call with one more observer.
    public func onSuccess(_ observer: @escaping @Sendable (_ value: Value) async -> Void) -> DeferredCall {
        with { $0.observers.success.append(observer) }
    }

    /// Adds an observer of failure, including cancellation.
    ///
    /// - Parameter observer: Called with the error, after the beginning and before the completion.
    /// - Returns: A call with one more observer.
    public func onFailure(_ observer: @escaping @Sendable (_ error: any Error) async -> Void) -> DeferredCall {
        with { $0.observers.failure.append(observer) }
    }

    /// Adds an observer of completion: the last phase, whatever the outcome.
    ///
    /// - Parameter observer: Called once, after success or failure.
    /// - Returns: A call with one more observer.
    public func onCompletion(_ observer: @escaping @Sendable () async -> Void) -> DeferredCall {
        with { $0.observers.completion.append(observer) }
    }

    /// Repeats a failing request.
    ///
    /// - Parameter retry: The retry policy; replaces an earlier one.
    /// - Returns: A call that retries.
    public func retry(_ retry: Retry) -> DeferredCall {
        with { $0.retry = retry }
    }

    /// Repeats a failing request.
    ///
    /// - Parameters:
    ///   - attempts: The most requests to make, including the first.
    ///   - delay: The wait before the next attempt; none by default.
    ///   - condition: Whether an error is worth another attempt; by default every error but `CancellationError` is.
    /// - Returns: A call that retries.
    public func retry(
        attempts: Int,
        delay: RetryDelay = .none,
        if condition: @escaping @Sendable (any Error) -> Bool = { !($0 is CancellationError) }
    ) -> DeferredCall {
        retry(Retry(attempts: attempts, delay: delay, if: condition))
    }
}
