// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Turns a provider's data into a model, under one policy for overlapping calls.
///
/// Create one call flow per use case and keep it: the policy applies to the calls of one flow. A call flow is safe to
/// use from any thread. It is also a provider, so it can be a member of a sequence or a group.
///
/// ```swift
/// let users = CallFlow(provider: UserProvider(), model: Users.self, execution: .latest)
/// let found = try await users.call("apple")
/// ```
public final class CallFlow<Parameters: Sendable, Value: Sendable>: Sendable {
    /// The provider, and the model behind it.
    let produce: @Sendable (Parameters) async throws -> Value

    /// Measures debounce and retry delays.
    let clock: any Clock<Duration>

    /// Admits calls and releases them when they end.
    let scheduler: CallScheduler

    /// Creates a call flow whose values a closure returns.
    ///
    /// - Parameters:
    ///   - execution: The policy for overlapping calls.
    ///   - clock: Measures debounce and retry delays; tests inject one.
    ///   - produce: Returns the value for one request; called once per attempt, concurrently for overlapping calls.
    public init(
        execution: Execution = .independent,
        clock: any Clock<Duration> = ContinuousClock(),
        _ produce: @escaping @Sendable (_ parameters: Parameters) async throws -> Value
    ) {
        self.produce = produce
        self.clock = clock
        scheduler = CallScheduler(execution)
    }

    /// Creates a call flow whose values are the output of a provider, unchanged.
    ///
    /// - Parameters:
    ///   - provider: The source of the values.
    ///   - execution: The policy for overlapping calls.
    ///   - clock: Measures debounce and retry delays; tests inject one.
    public convenience init<Provider: DataProvider<Parameters, Value>>(
        provider: Provider,
        execution: Execution = .independent,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(execution: execution, clock: clock) { try await provider.request($0) }
    }

    /// Creates a call flow whose values are models made from the output of a provider.
    ///
    /// - Parameters:
    ///   - provider: The source of the data.
    ///   - model: The type made from the data.
    ///   - execution: The policy for overlapping calls.
    ///   - clock: Measures debounce and retry delays; tests inject one.
    public convenience init<Provider: DataProvider>(
        provider: Provider,
        model: Value.Type,
        execution: Execution = .independent,
        clock: any Clock<Duration> = ContinuousClock()
    ) where Provider.Parameters == Parameters, Value: Model, Value.ProvidedData == Provider.Output {
        self.init(execution: execution, clock: clock) { try Value(from: await provider.request($0)) }
    }

    /// Starts the chain that ends with ``DeferredCall/call()``.
    ///
    /// - Parameter parameters: The provider's parameters.
    /// - Returns: A call that has not been made yet.
    public func prepare(_ parameters: Parameters) -> DeferredCall<Parameters, Value> {
        DeferredCall(self, parameters: parameters)
    }

    /// Makes a call and awaits its value; cancelling the task cancels the call.
    ///
    /// - Parameter parameters: The provider's parameters.
    /// - Returns: The value.
    /// - Throws: The error of the provider or the model, `CancellationError` when the call was cancelled or superseded,
    ///   ``IgnoredCallError`` when it was ignored.
    public func call(_ parameters: Parameters) async throws -> Value {
        try await prepare(parameters).value()
    }
}

extension CallFlow where Parameters == Void {
    /// Starts the chain for a provider without parameters.
    ///
    /// - Returns: A call that has not been made yet.
    public func prepare() -> DeferredCall<Void, Value> {
        prepare(())
    }

    /// Makes a call without parameters and awaits its value.
    ///
    /// - Returns: The value.
    /// - Throws: As ``call(_:)`` does.
    public func call() async throws -> Value {
        try await call(())
    }
}

extension CallFlow: DataProvider {
    /// Makes a call under the policy of the call flow, as ``call(_:)`` does.
    public func request(_ parameters: Parameters) async throws -> Value {
        try await call(parameters)
    }
}
