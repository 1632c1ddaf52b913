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
    /// Answers a call of an operation by its name and arguments.
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

    /// Whether there is a double for the use.
    public func isBound(_ use: String) -> Bool { doubles[use] != nil }
}

extension GateDoubles {
    /// The error for an operation that a double does not know, or for one that lacks an argument.
    static func unsupported(_ operation: String) -> PluginError {
        PluginError(.unsupported, "the double does not answer \"\(operation)\" with these arguments")
    }

    /// Runs a body that reads a model, and throws `invalid` for values that the model refuses.
    static func checked<Value>(_ body: () throws(ConnectorError) -> Value) throws(PluginError) -> Value {
        do throws(ConnectorError) {
            return try body()
        } catch {
            throw PluginError(.invalid, error.message)
        }
    }
}
