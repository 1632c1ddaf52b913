// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The types that an operation takes and returns, as written in a manifest.
///
/// ```
/// signature  = parameters [ "async" ] [ "->" results ]
/// parameters = "(" [ parameter { "," parameter } ] ")"
/// parameter  = name ":" [ "out" ] type [ "?" ]
/// results    = type | "(" name ":" type { "," name ":" type } ")"
/// type       = "i8" … "i64" | "u8" … "u64" | "f32" | "f64" | "handle" | "string" | "bytes" | "json"
///            | "cstring" | "bytes32"
/// ```
///
/// For example `(collection: string, record: json, id: string?) async -> json`. `connector/operation.h` gives each
/// type's C form. Texts with the same meaning yield equal signatures with the same ``description``.
public struct Signature: Sendable, Hashable {
    /// The values that the caller passes, and the buffers that it lends.
    package var parameters: [Parameter]
    /// The values that the callee produces.
    package var results: [Result]
    /// Whether the operation completes asynchronously instead of returning its result.
    public var isAsync: Bool

    /// Whether a parameter carries a value to the callee or back.
    package enum Direction: Sendable, Hashable {
        case `in`
        case out
    }

    /// One parameter.
    package struct Parameter: Sendable, Hashable {
        /// The name, unique within the signature; the key in calls by name.
        package var name: String
        /// The type in C and in JSON.
        package var type: ValueType
        /// The direction of the value.
        package var direction: Direction
        /// Whether the value may be absent.
        package var isOptional: Bool
    }

    /// One result.
    package struct Result: Sendable, Hashable {
        /// The key in the answer if there are several results; nil for a single one.
        package var name: String?
        /// The type in C and in JSON.
        package var type: ValueType
    }
}

extension Signature {
    /// The signature as callers see it: without the inputs that the host fills in.
    package func without(inputs names: Set<String>) -> Signature {
        guard !names.isEmpty else { return self }
        var signature = self
        signature.parameters.removeAll { $0.direction == .in && names.contains($0.name) }
        return signature
    }

    /// The name of the only input, if that input is JSON; nil otherwise.
    package var onlyJSON: String? {
        let inputs = parameters.filter { $0.direction == .in }
        guard inputs.count == 1, let input = inputs.first, input.type == .json else { return nil }
        return input.name
    }
}

extension Signature: CustomStringConvertible {
    /// The normal form of the signature.
    public var description: String {
        let parameters = parameters.map { parameter in
            "\(parameter.name): \(parameter.direction == .out ? "out " : "")\(parameter.type)\(parameter.isOptional ? "?" : "")"
        }
        var text = "(" + parameters.joined(separator: ", ") + ")"
        if isAsync { text += " async" }
        switch results.count {
        case 0: break
        case 1: text += " -> \(results[0].type)"
        default: text += " -> (" + results.map { "\($0.name ?? ""): \($0.type)" }.joined(separator: ", ") + ")"
        }
        return text
    }
}
