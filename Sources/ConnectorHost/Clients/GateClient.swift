// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// Calls any operation of a connector by name, also of capabilities that nobody knew of when this was compiled.
///
/// ```swift
/// let answer = try await host.gate("calculator").call("add", ["a": 1, "b": 2])
/// ```
///
/// A value that holds nothing else of the host: hand it to whoever needs this connector and no other. From any thread.
public struct GateClient: Sendable {
    private let target: ClientTarget

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
    ///   what the plugin says after that. `cancelled` if the task is cancelled.
    @discardableResult
    public func call(
        _ operation: String,
        _ arguments: JSONObject = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        try await target.call(operation, arguments, options).json()
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
        guard let gate = target.gate else {
            throw ConnectorError(
                .unsupported,
                "a composite has no functions of its own: name one of its leaves",
                connector: path
            )
        }
        return try TypedOperation(gate, operation, Signature(parsing: signature))
    }
}
