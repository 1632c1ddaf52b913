// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The arguments of a call, independent of the plugin that will receive them.
package struct CallArguments: Sendable {
    /// Unchecked JSON by name, unchecked values by position, or values that a typed client has already encoded.
    package enum Storage: Sendable {
        case json(JSONObject)
        case positional([any JSONRepresentable])
        case encoded([(name: String, value: CallValue)])
    }

    /// The arguments in the caller's form.
    package let storage: Storage

    /// Creates arguments from JSON, by name.
    package init(_ object: JSONObject) {
        storage = .json(object)
    }

    /// Creates arguments from values in the order of the parameters.
    package init(positional values: [any JSONRepresentable]) {
        storage = .positional(values)
    }

    /// Creates arguments from the bytes of `string`, `json` and `bytes` parameters, by name; nil for no value.
    package init(texts: [(name: String, text: [UInt8]?)]) {
        storage = .encoded(texts.map { ($0.name, $0.text.map(CallValue.bytes) ?? .none) })
    }

    /// Creates arguments from values, by name: bytes for `string`, `json` and `bytes` parameters, numbers in the parameter's range
    /// for scalars, and the numbers of handles.
    package init(encoded values: [(name: String, value: CallValue)]) {
        storage = .encoded(values)
    }

    /// Checks and converts the arguments to the values of a signature's inputs, in order.
    ///
    /// - Parameter bound: The values of the inputs that the host fills in, by name.
    /// - Throws: `invalid`, with the signature, if a value is missing, unexpected, or of the wrong type.
    package func values(
        for signature: Signature,
        operation: String,
        bound: [String: CallValue] = [:],
        handles: (any HandleNumbering)?
    ) throws(ConnectorError) -> [CallValue] {
        let inputs = signature.parameters.filter { $0.direction == .in }
        func wrong(_ message: String, cause: ConnectorError? = nil) -> ConnectorError {
            ConnectorError(
                cause?.code ?? .invalid,
                message,
                fix: cause?.fix ?? "call it as \(operation)\(signature.without(inputs: Set(bound.keys)))"
            )
        }
        func converted(_ value: JSONValue?, _ input: Signature.Parameter) throws(ConnectorError) -> CallValue {
            guard let value, value != .null || input.type == .json && !input.isOptional else {
                guard input.isOptional else { throw wrong("\(operation) needs \"\(input.name)\"") }
                return .none
            }
            do throws(ConnectorError) {
                return try CallValue(value, as: input.type, handles: handles)
            } catch {
                throw wrong("\(operation), \(input.name): \(error.message)", cause: error)
            }
        }
        var values: [CallValue] = []
        switch storage {
        case .positional(let given):
            var rest = given[...]
            let open = inputs.count { bound[$0.name] == nil }
            guard given.count <= open else { throw wrong("\(operation) takes \(open) values") }
            for input in inputs {
                if let value = bound[input.name] {
                    values.append(value)
                    continue
                }
                let value = rest.popFirst()
                if let number = value.flatMap({ CallValue(number: $0, as: input.type) }) {
                    values.append(number)
                } else {
                    values.append(try converted(value?.json, input))
                }
            }
        case .json(let object):
            let known = inputs.map(\.name)
            for name in object.names where !known.contains(name) || bound[name] != nil {
                let hint = suggestion(for: name, among: known.filter { bound[$0] == nil }).map { "; \($0)" } ?? ""
                throw wrong("\(operation) has no parameter \"\(name.excerpt)\"\(hint)")
            }
            for input in inputs {
                if let value = bound[input.name] {
                    values.append(value)
                } else {
                    values.append(try converted(object[input.name], input))
                }
            }
        case .encoded(let given):
            for input in inputs {
                if let value = bound[input.name] {
                    values.append(value)
                    continue
                }
                let value: CallValue = given.first { $0.name == input.name }?.value ?? .none
                let isFit =
                    switch value {
                    case .none: input.isOptional
                    case .bytes: !input.type.isScalar
                    default: input.type.isScalar
                    }
                guard isFit else { throw wrong("\(operation) cannot be called with these values") }
                guard case .handle(let number) = value, number != 0 else {
                    values.append(value)
                    continue
                }
                guard let address = handles?.address(Int64(clamping: number)) else {
                    throw ConnectorError(
                        .invalid,
                        "\(operation), \(input.name): what was passed is not a handle of this gate",
                        fix: CallValue.handleAdvice
                    )
                }
                values.append(.handle(address))
            }
        }
        return values
    }
}
