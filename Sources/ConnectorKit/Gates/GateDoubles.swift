// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// Stand-ins for the gates that a plugin uses, for its tests.
///
/// ```swift
/// let gates = GateDoubles(["settings": { operation, arguments throws(PluginError) in
///     operation == "get" ? "dark" : .null
/// }])
/// let plugin = try Theme(configuration: PluginConfiguration([:]), host: Host(gates: gates))
/// ```
public struct GateDoubles: GateService {
    /// Answers a call of an operation with these arguments.
    public typealias Double =
        @Sendable (_ operation: String, _ arguments: JSONValue) async throws(PluginError) -> JSONValue

    private let doubles: [String: Double]

    /// Creates doubles by the names in the manifest's `uses`.
    public init(_ doubles: [String: Double]) {
        self.doubles = doubles
    }

    /// Calls the double of a use; throws `invalid` if there is none.
    public func call(
        _ use: String,
        _ operation: String,
        _ arguments: JSONValue,
        timeout: Duration?
    ) async throws(PluginError) -> JSONValue {
        guard let double = doubles[use] else {
            throw PluginError(.invalid, "there is no double for the used gate \"\(use)\"")
        }
        return try await double(operation, arguments)
    }
}
