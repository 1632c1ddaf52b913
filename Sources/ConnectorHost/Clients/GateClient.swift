// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorInvocation
public import ConnectorManifest

/// Calls any operation of a connector by name, even of a capability that was unknown at compile time.
///
/// ```swift
/// let answer = try await host.gate("calculator").call("add", ["a": 1, "b": 2])
/// ```
///
/// A client gives access to its own connector only. Use it from any thread.
public struct GateClient: OperationCaller {
    let target: ClientTarget

    init(_ target: ClientTarget) {
        self.target = target
    }

    /// The connector's path.
    public var path: String { target.path }

    /// The capabilities of the connector and everything below it, from the plugins' manifests. Those of a foreign library
    /// lack the operations that only the host calls, and the parameters that it fills in: see <doc:ForeignLibraries>.
    public var capabilities: [Capability] { target.capabilities }

    /// Calls an operation.
    ///
    /// The call keeps its deadline whatever the plugin does: the function runs on a separate thread, which it may
    /// block. A function that does not return cannot be stopped; it occupies its thread until it returns, which counts
    /// as misbehaviour. A gate has 32 such threads: further calls wait for one, and fail at once while all are blocked
    /// beyond their deadlines.
    ///
    /// Switching threads costs some tens of microseconds. An operation with `"prompt": true` in its manifest runs on
    /// the caller's thread instead, fewer calls of a gate at a time than there are processors; the deadline then cannot end a
    /// function that blocks after all, and its caller waits for it. For many consecutive calls of a function that does not block,
    /// ``withPrepared(_:options:_:)`` and ``typed(_:_:as:)`` call it directly.
    ///
    /// - Parameters:
    ///   - operation: The operation; `capability/operation` if two capabilities share the name.
    ///   - arguments: The arguments by parameter. `bytes` are `{"base64": "…"}` or a string; a handle is one returned
    ///     by an earlier call. Where the only parameter is JSON, also the members of that argument.
    ///   - options: The timeout of the call.
    /// - Returns: The result: null if there is none, an object if there are several. A composite with the policy `all`
    ///   returns every child's result or error by path.
    /// - Throws: A `ConnectorError`. Before any plugin code runs: `invalid` with the signature, `not-open` with the
    ///   state. After that: the plugin's own error, or `timed-out`. `cancelled` only if the caller's own task is: see
    ///   <doc:Errors>.
    @discardableResult
    public func call(
        _ operation: String,
        _ arguments: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        try await target.call(operation, CallArguments(arguments), options).json()
    }

    /// Calls an operation, and returns the outcome of each leaf it called.
    ///
    /// ```swift
    /// let outcomes = try await host.gate("analytics").outcomes(of: "flush")
    /// let lost = outcomes.filter { !$0.isSuccess }
    /// ```
    ///
    /// - Returns: One outcome for a leaf. For a composite, one for every leaf its policy called, including failures the
    ///   policy tolerates.
    /// - Throws: As ``call(_:_:options:)`` does; the error's ``ConnectorError/outcomes`` holds the same outcomes.
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
    /// Costs what ``call(_:_:options:)`` costs, and keeps its deadline in the same way.
    ///
    /// - Parameters:
    ///   - operation: The operation; `capability/operation` if two capabilities share the name.
    ///   - first: The first value.
    ///   - rest: The other values; trailing optional parameters may be omitted.
    ///   - options: The timeout of the call, including queueing at the gate.
    /// - Throws: As ``call(_:_:options:)`` does.
    @inlinable
    @discardableResult
    public func call<First: OperationValue, each Rest: OperationValue>(
        _ operation: String,
        _ first: First,
        _ rest: repeat each Rest,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        let answer = try callPromptly(operation, options) { call throws(ConnectorError) in
            try first.set(in: call, at: 0)
            var index = 1
            for value in repeat each rest {
                try value.set(in: call, at: index)
                index += 1
            }
        }
        if let answer { return answer }
        var values: [any JSONRepresentable] = [first]
        for value in repeat each rest { values.append(value) }
        return try await callNode(operation, values, options)
    }

    /// Calls an operation that is expected to run on its caller's thread; see ``Node/callPromptly(_:_:)``.
    ///
    /// - Returns: Nil, without calling, for any other.
    @usableFromInline
    func callPromptly(
        _ operation: String,
        _ options: CallOptions,
        _ bind: (borrowing PreparedCall) throws(ConnectorError) -> Void
    ) throws(ConnectorError) -> JSONValue? {
        // A call whose time may be over on the way takes the other path, which looks at the clock before the function runs, and so does
        // one of a cancelled task, which that path refuses.
        guard options.timeoutNanoseconds > PluginInstance.promptLimit, !options.keepsTimeout, !target.isTraced,
            !Task.isCancelled
        else { return nil }
        return try target.reference.lend { node throws(ConnectorError) in try node.callPromptly(operation, bind) }
    }

    /// Calls an operation with values that are bound to its parameters at the gate.
    @usableFromInline
    func callNode(
        _ operation: String,
        _ values: [any JSONRepresentable],
        _ options: CallOptions
    ) async throws(ConnectorError) -> JSONValue {
        // Skip `ClientTarget.call`, which only adds the capability's name: this client has no capability.
        let arguments = CallArguments(positional: values)
        let tree = target.reference.tree
        let call = Node.Call(operation: operation, arguments: arguments, options: options, in: tree)
        return try await target.node.call(call).json()
    }

    /// Prepares an operation for many consecutive calls that each cost only libffi, and keeps the gate open while the
    /// body runs.
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
    /// The calls run on the caller's own thread, as in C: a function that blocks holds that thread, and no deadline
    /// ends it. The gate cannot close before the body returns, so keep it short. A `serial` gate admits no other caller
    /// meanwhile. Calls to a plugin in a runner are forwarded, and each ends after 30 seconds at the latest.
    ///
    /// - Parameters:
    ///   - operation: The operation's name.
    ///   - options: The longest wait for admission to a `serial` gate. The body and its calls are not interrupted.
    ///   - body: Calls the operation.
    /// - Throws: `unsupported` for a composite, a foreign library's operation, or an asynchronous operation;
    ///   `not-open`; `timed-out` and `cancelled` while waiting for admission; the body's own errors.
    public func withPrepared<Result>(
        _ operation: String,
        options: CallOptions = CallOptions(),
        _ body: (borrowing PreparedCall) throws(ConnectorError) -> Result
    ) async throws(ConnectorError) -> Result {
        try await leaf().withPrepared(operation, options, body)
    }

    /// Makes an operation callable through its own C type, for a typed client of your own capability.
    ///
    /// The function runs on the caller's own thread, as in C: one that blocks holds that thread, and no deadline ends
    /// it. If that matters, call the operation by name. If the plugin is in a runner, the function forwards the call, and fails with
    /// `timed-out` after 30 seconds, with `crashed` if the runner ends, and with `unsupported` if an argument or result is a handle.
    ///
    /// - Parameters:
    ///   - operation: The operation's name.
    ///   - signature: The signature the client was written for; it must equal the manifest's.
    ///   - function: The C type of the signature: see `connector/operation.h`.
    /// - Throws: `signature-mismatch` with both signatures, `unsupported` for a composite, `invalid` for an unknown
    ///   operation.
    public func typed<Function>(
        _ operation: String,
        _ signature: String,
        as function: Function.Type
    ) throws(ConnectorError) -> TypedOperation<Function> {
        try TypedOperation(leaf(), operation, Signature(parsing: signature))
    }

    /// An operation and its capability.
    ///
    /// - Throws: `unsupported` if neither the connector nor anything below it has the operation; `invalid` if only the host calls it;
    ///   the error of a plugin that cannot be used, and may have it.
    package func definition(
        of operation: String
    ) throws(ConnectorError) -> (capability: Capability, operation: Operation) {
        if let found = capabilities.operation(named: operation) { return found }
        if let error = target.problem(with: operation) ?? target.failure(hiding: operation) { throw error }
        let known = capabilities.names
        throw ConnectorError(
            .unsupported,
            "the connector has no operation \"\(operation.excerpt)\"",
            fix: suggestion(for: operation, among: known) ?? "run: connector-host operations \(path)",
            connector: path
        )
    }

    private func leaf() throws(ConnectorError) -> Gate {
        if let gate = try target.node.gate { return gate }
        throw ConnectorError(
            .unsupported,
            "a composite has no functions of its own",
            fix: "name one of its leaves",
            connector: path
        )
    }
}
