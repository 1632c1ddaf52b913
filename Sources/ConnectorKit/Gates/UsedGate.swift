// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A gate that the plugin uses. It offers the capability that the manifest names, and nothing else.
public struct UsedGate: Sendable {
    /// The name in the manifest's `uses`.
    public let name: String
    private let service: any GateService

    /// Creates a used gate whose calls go through a service.
    public init(_ name: String, _ service: any GateService) {
        self.name = name
        self.service = service
    }

    /// Calls an operation, and returns its result; null if it has none.
    ///
    /// Cancelling the task cancels the call. The call also ends with the plugin's own operation, at its deadline or when the host gives
    /// it up; a task that outlives the operation is not bound by it.
    ///
    /// - Parameters:
    ///   - operation: The operation's name in the capability.
    ///   - arguments: The arguments by name. `bytes` are `{"base64": "…"}`, as in results, or a string, which means its own UTF-8
    ///     bytes.
    ///   - timeout: The time after which the call fails with `timedOut`; nil for the host's 30 seconds.
    /// - Throws: The used gate's error, which names its connector.
    public func call(
        _ operation: String,
        _ arguments: JSONObject = [:],
        timeout: Duration? = nil
    ) async throws(PluginError) -> JSONValue {
        try await service.call(name, operation, .object(arguments), timeout: timeout)
    }

    /// Calls an operation, and reads a model from its result.
    ///
    /// - Throws: `protocolViolation` if `read` rejects the result.
    func call<Model>(
        _ operation: String,
        _ arguments: JSONObject,
        _ read: (JSONValue) throws(ConnectorError) -> Model
    ) async throws(PluginError) -> Model {
        let answer = try await call(operation, arguments)
        do throws(ConnectorError) {
            return try read(answer)
        } catch {
            throw PluginError(
                .protocolViolation,
                "the answer of the used gate \"\(name)\" to \"\(operation)\" breaks the capability's rules: \(error.message)"
            )
        }
    }
}

/// A capability as a plugin sees it at a gate that it uses: typed methods over ``UsedGate/call(_:_:timeout:)``.
public protocol UsedCapability: Sendable {
    /// Wraps a used gate that offers the capability.
    init(_ gate: UsedGate)
}

extension Host {
    /// A gate that the plugin uses, by the name in its manifest's `uses`.
    public func gate(_ name: String) -> UsedGate { UsedGate(name, gates) }

    /// A gate that the plugin uses, as its capability:
    ///
    /// ```swift
    /// // "uses": { "settings": "settings/1" }
    /// let theme = try await host.gate("settings", as: UsedSettings.self).value(of: "theme")
    /// ```
    public func gate<Capability: UsedCapability>(
        _ name: String,
        as capability: Capability.Type
    ) -> Capability {
        capability.init(gate(name))
    }

    /// The gate of an optional use; nil if no connector is bound to it.
    public func optionalGate(_ name: String) -> UsedGate? { gates.isBound(name) ? gate(name) : nil }

    /// The gate of an optional use, as its capability:
    ///
    /// ```swift
    /// // "uses": { "settings": { "capability": "settings/1", "optional": true } }
    /// let theme = try await host.optionalGate("settings", as: UsedSettings.self)?.value(of: "theme") ?? "light"
    /// ```
    ///
    /// - Returns: Nil if no connector is bound to the optional use.
    public func optionalGate<Capability: UsedCapability>(
        _ name: String,
        as capability: Capability.Type
    ) -> Capability? {
        optionalGate(name).map(capability.init)
    }
}
