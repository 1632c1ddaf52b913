// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// How a function of a foreign library, one not written for connectors, reports success.
public struct ForeignConvention: Sendable, Hashable {
    /// The return values that mean success.
    public var status: Status
    /// The integer type of the status that a function returns whose signature has no result; C's `int` unless the manifest says more.
    package var statusType: ValueType = .i32
    /// The error codes, such as `conflict`, by number.
    public var codes: [Int64: ConnectorError.Code]
    /// The parameters whose handles the library frees. The host revokes them before the call.
    public var releases: [String]
    /// The name of the returned value, under which a gate's other operations get what its `open` returns; nil if the signature gives
    /// none.
    package var resultName: String?

    /// How to read success from a function's return value; the raw value is the word in the manifest.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// The function fails only with a number that `codes` names. Any other value is the result.
        case none
        /// Zero is success; any other number is an error code.
        case zero
        /// A negative value is an error code; any other is the result.
        case negative
        /// A null pointer is a failure; any other is the result.
        case null
        /// -1 is a failure, with the reason in `errno`; anything else is the result.
        case errno
    }

    /// The type of a function's return value.
    package func returnType(of signature: Signature) -> ValueType { signature.results.first?.type ?? statusType }

    /// Whether the function returns the signature's single result.
    package func returnsValue(of signature: Signature) -> Bool {
        status != .zero && !signature.results.isEmpty
    }
}

extension Operation {
    /// The values that a foreign function gives out and its signature names, with their types: out parameters, then the result.
    package var outputs: [(name: String, type: ValueType)] {
        var outputs: [(name: String, type: ValueType)] = []
        for parameter in signature.parameters where parameter.direction == .out {
            outputs.append((parameter.name, parameter.type))
        }
        if let name = foreign?.resultName, let result = signature.results.first { outputs.append((name, result.type)) }
        return outputs
    }
}

/// The operations of a foreign library that open and close a gate.
public struct ForeignLifecycle: Sendable, Hashable {
    /// The operation that opens. It takes the configuration fields that its parameters name; its results become the
    /// parameters of the same names in every other operation.
    public var open: String?
    /// The operation that closes. It takes the results of `open`.
    public var close: String?
}
