// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorInvocation
public import ConnectorManifest

/// Calls any operation of a connector by name, also of capabilities that nobody knew of when this was compiled.
///
/// ```swift
/// let answer = try await host.gate("calculator").call("add", ["a": 1, "b": 2])
/// ```
///
/// A value that holds nothing else of the host: hand it to whoever needs this connector and no other. From any thread.
public struct GateClient: Sendable {
    let target: ClientTarget

    init(_ target: ClientTarget) {
        self.target = target
    }

    /// The connector's path.
    public var path: String { target.path }

    /// What the connector, or something below it, can do, from the plugins' manifests.
    public var capabilities: [Capability] { target.capabilities }

    /// Calls an operation.
    ///
    /// Costs some microseconds beside the operation itself: the values are checked against the signature and laid out for
    /// libffi, which was prepared at the operation's first call.
    ///
    /// - Parameters:
    ///   - operation: Its name; `capability/operation` where two capabilities share one.
    ///   - arguments: By parameter. `bytes` are `{"base64": "…"}` or a string, a handle is what an earlier call answered.
    ///   - options: How long it may take.
    /// - Returns: The result; null if there is none, an object if there are several. A composite of the policy `all` answers
    ///   with every child's result or error by path.
    /// - Throws: A `ConnectorError`: `invalid` with the signature and `not-open` with the state before any plugin code runs;
    ///   what the plugin says after that; `timed-out`. `cancelled` if, and only if, the caller's own task is: see <doc:Errors>.
    @discardableResult
    public func call(
        _ operation: String,
        _ arguments: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        try await target.call(operation, CallArguments(arguments), options).json()
    }

    /// Calls an operation, and tells how each leaf that was asked fared.
    ///
    /// ```swift
    /// let outcomes = try await host.gate("analytics").outcomes(of: "flush")
    /// let lost = outcomes.filter { !$0.isSuccess }
    /// ```
    ///
    /// - Returns: One for a leaf. For a composite every leaf below it that its policy asked, among them those whose failure the
    ///   policy forgives.
    /// - Throws: As ``call(_:_:options:)`` does; ``ConnectorError/outcomes`` of the error says the same.
    public func outcomes(
        of operation: String,
        _ arguments: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [CallOutcome] {
        try await target.call(operation, CallArguments(arguments), options).outcomes
    }

    /// Calls an operation with values in the order of its parameters.
    ///
    /// ```swift
    /// let sum = try await host.gate("calculator").call("add", 1, 2).number
    /// ```
    ///
    /// As ``call(_:_:options:)``, and the fastest way to call what nobody knew of when this was compiled: an operation that answers
    /// at once costs some hundred nanoseconds beside itself.
    ///
    /// - Parameters:
    ///   - operation: Its name; `capability/operation` where two capabilities share one.
    ///   - first: The first value.
    ///   - rest: The others; parameters at the end that are optional may be left out.
    ///   - options: How long it may take, a wait for its turn included. An operation that answers at once is not interrupted.
    /// - Throws: As ``call(_:_:options:)`` does.
    @inlinable
    @discardableResult
    public func call<First: OperationValue, each Rest: OperationValue>(
        _ operation: String,
        _ first: First,
        _ rest: repeat each Rest,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        let answer = try callNow(operation) { call throws(ConnectorError) in
            try first.store(in: call, at: 0)
            var index = 1
            for value in repeat each rest {
                try value.store(in: call, at: index)
                index += 1
            }
        }
        if let answer { return answer }
        var values = [first.json]
        for value in repeat each rest { values.append(value.json) }
        return try await call(operation, positional: values, options: options)
    }

    @usableFromInline
    func callNow(
        _ operation: String,
        _ store: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> JSONValue? {
        try target.node.callNow(operation, store)
    }

    @usableFromInline
    func call(
        _ operation: String,
        positional values: [JSONValue],
        options: CallOptions
    ) async throws(ConnectorError) -> JSONValue {
        try await target.call(operation, CallArguments(positional: values), options).json()
    }

    /// Lends an operation for any number of calls in a row, at what libffi takes for each, and keeps the gate open meanwhile.
    ///
    /// ```swift
    /// let total = try await gate.withPrepared("add") { add throws(ConnectorError) in
    ///     var total: Int64 = 0
    ///     for number in 1...100 as ClosedRange<Int64> {
    ///         try add.set(total, at: 0)
    ///         try add.set(number, at: 1)
    ///         try add()
    ///         total = try add.integer()
    ///     }
    ///     return total
    /// }
    /// ```
    ///
    /// The gate does not close before the body returns, so keep it short; on a `serial` gate nobody else is let in meanwhile.
    ///
    /// - Parameters:
    ///   - operation: Its name.
    ///   - options: How long to wait for a turn on a `serial` gate; the body and its calls are not interrupted.
    ///   - body: Calls the operation.
    /// - Throws: `unsupported` for a composite, a foreign library's operation, and one that answers by completion; `not-open`;
    ///   `timed-out` and `cancelled` while it waits for its turn; what the body throws.
    public func withPrepared<Result>(
        _ operation: String,
        options: CallOptions = CallOptions(),
        _ body: (borrowing PreparedCall) throws(ConnectorError) -> Result
    ) async throws(ConnectorError) -> Result {
        try await leaf().withPrepared(operation, options, body)
    }

    /// An operation to be called through its own C type, for a typed client of a capability of one's own.
    ///
    /// - Parameters:
    ///   - operation: Its name.
    ///   - signature: What the client was written for; it must be the manifest's.
    ///   - function: The C type that the signature means: see `connector/operation.h`.
    /// - Throws: `signature-mismatch` naming both, `unsupported` for a composite, `invalid` for an unknown operation.
    public func typed<Function>(
        _ operation: String,
        _ signature: String,
        as function: Function.Type
    ) throws(ConnectorError) -> TypedOperation<Function> {
        try TypedOperation(leaf(), operation, Signature(parsing: signature))
    }

    private func leaf() throws(ConnectorError) -> Gate {
        if let gate = try target.node.gate { return gate }
        throw ConnectorError(
            .unsupported,
            "a composite has no functions of its own: name one of its leaves",
            connector: path
        )
    }
}
