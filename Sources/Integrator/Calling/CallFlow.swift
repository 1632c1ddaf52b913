// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Brings a provider's data to those who want a model, under one policy for calls that overlap.
///
/// Make one call flow per use case and keep it: the policy holds among the calls of one flow. It is safe to use
/// from any thread. A call flow is a provider too, so it can be a member of a sequence or a group.
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

    /// Where calls arrive and leave.
    let turnstile: Turnstile

    /// Answers calls with what a closure returns.
    ///
    /// - Parameters:
    ///   - execution: What becomes of calls that overlap.
    ///   - clock: Measures debounce and retry delays; tests inject one.
    ///   - produce: Answers one request.
    public init(
        execution: Execution = .independent,
        clock: any Clock<Duration> = ContinuousClock(),
        _ produce: @escaping @Sendable (_ parameters: Parameters) async throws -> Value
    ) {
        self.produce = produce
        self.clock = clock
        turnstile = Turnstile(execution)
    }

    /// Answers calls with the output of a provider, as it is.
    ///
    /// - Parameters:
    ///   - provider: Where the values come from.
    ///   - execution: What becomes of calls that overlap.
    ///   - clock: Measures debounce and retry delays; tests inject one.
    public convenience init<Provider: DataProvider<Parameters, Value>>(
        provider: Provider,
        execution: Execution = .independent,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(execution: execution, clock: clock) { try await provider.request($0) }
    }

    /// Answers calls with a model made from the output of a provider.
    ///
    /// - Parameters:
    ///   - provider: Where the data come from.
    ///   - model: What the data become.
    ///   - execution: What becomes of calls that overlap.
    ///   - clock: Measures debounce and retry delays; tests inject one.
    public convenience init<Provider: DataProvider>(
        provider: Provider,
        model: Value.Type,
        execution: Execution = .independent,
        clock: any Clock<Duration> = ContinuousClock()
    ) where Provider.Parameters == Parameters, Value: Model, Value.ProvidedData == Provider.Output {
        self.init(execution: execution, clock: clock) { try Value(from: await provider.request($0)) }
    }

    /// Begins the chain that ends with ``DeferredCall/call()``.
    ///
    /// - Parameter parameters: What the provider is asked with.
    /// - Returns: A call that was not made yet.
    public func prepare(_ parameters: Parameters) -> DeferredCall<Parameters, Value> {
        DeferredCall(self, parameters: parameters)
    }

    /// Makes a call and waits for its value; cancelling the task cancels the call.
    ///
    /// - Parameter parameters: What the provider is asked with.
    /// - Returns: The value.
    /// - Throws: The error of the provider or the model, `CancellationError` when the call was cancelled or overtaken,
    ///   ``IgnoredCallError`` when it was ignored.
    public func call(_ parameters: Parameters) async throws -> Value {
        try await prepare(parameters).value()
    }
}

extension CallFlow where Parameters == Void {
    /// Begins the chain for a provider that needs no parameters.
    ///
    /// - Returns: A call that was not made yet.
    public func prepare() -> DeferredCall<Void, Value> {
        prepare(())
    }

    /// Makes a call of a provider that needs no parameters, and waits for its value.
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
