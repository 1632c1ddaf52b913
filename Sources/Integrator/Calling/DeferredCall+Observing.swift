// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension DeferredCall {
    /// Adds an observer of the beginning, which comes just before the provider is called.
    ///
    /// A call that is cancelled earlier still reports its beginning before its failure.
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

    /// Retries a failed request.
    ///
    /// - Parameter retry: The retry policy; replaces an earlier one.
    /// - Returns: A call that retries.
    public func retry(_ retry: Retry) -> DeferredCall {
        with { $0.retry = retry }
    }

    /// Retries a failed request.
    ///
    /// - Parameters:
    ///   - attempts: The maximum number of requests, including the first; values below one count as one.
    ///   - delay: The wait before the next attempt; none by default.
    ///   - condition: Whether to retry after an error; by default true for every error but `CancellationError`.
    /// - Returns: A call that retries.
    public func retry(
        attempts: Int,
        delay: RetryDelay = .none,
        if condition: @escaping @Sendable (any Error) -> Bool = { !($0 is CancellationError) }
    ) -> DeferredCall {
        retry(Retry(attempts: attempts, delay: delay, if: condition))
    }
}
