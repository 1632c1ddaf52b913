// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// Calls of the gates that the plugin uses (`gates/1`).
///
/// Authors call them through ``Host/gate(_:)``. Tests pass ``GateDoubles`` to `Host`.
public protocol GateService: Sendable {
    /// Calls an operation of a used gate, and returns its result; null if it has none.
    ///
    /// Cancelling the task cancels the call. The call also ends with the plugin's own operation, at its deadline or when the host gives
    /// it up; a task that outlives the operation is not bound by it.
    ///
    /// - Parameters:
    ///   - use: The name in the manifest's `uses`.
    ///   - operation: The operation's name in the capability.
    ///   - arguments: The arguments: an object by name, or an array in the order of the parameters.
    ///   - timeout: The time after which the call fails with `timedOut`; nil for the host's 30 seconds.
    /// - Throws: The used gate's error, which names its connector; `invalid` for a name that the manifest lacks.
    func call(
        _ use: String,
        _ operation: String,
        _ arguments: JSONValue,
        timeout: Duration?
    ) async throws(PluginError) -> JSONValue

    /// Whether a connector is bound to a use; only an optional one may be unbound.
    ///
    /// - Parameter use: The name in the manifest's `uses`.
    func isBound(_ use: String) -> Bool
}

extension GateService {
    /// Says that every use is bound.
    public func isBound(_ use: String) -> Bool { true }
}

/// The service of a plugin whose manifest has no `uses`.
public struct NoGates: GateService {
    /// Creates a service that refuses every call.
    public init() {}

    /// Always throws `denied`.
    public func call(
        _ use: String,
        _ operation: String,
        _ arguments: JSONValue,
        timeout: Duration?
    ) async throws(PluginError) -> JSONValue {
        throw PluginError(.denied, "the manifest's \"uses\" names no gate, or the host does not have gates/1")
    }

    /// Always false.
    public func isBound(_ use: String) -> Bool { false }
}
