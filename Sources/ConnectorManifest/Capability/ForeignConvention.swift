// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// How a function of a library that knows nothing of connectors reports success.
public struct ForeignConvention: Sendable, Hashable {
    /// The return values that mean success.
    public var status: Status
    /// The error code, such as `conflict`, that each number stands for.
    public var codes: [Int64: ConnectorError.Code]
    /// The parameters whose handles the library frees. The host revokes them before the call.
    public var releases: [String]

    /// A way to read success from a function's return value; the raw value is the manifest's word for it.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// The function fails only with a number that `codes` names. Any other value is the result.
        case none
        /// Zero is success; any other number says why the call failed.
        case zero
        /// A negative value says why the call failed; any other is the result.
        case negative
        /// A null pointer is a failure; any other is the result.
        case null
        /// -1 is a failure, and `errno` says why; anything else is the result.
        case errno
    }

    /// Whether the function returns the signature's single result.
    package func returnsValue(of signature: Signature) -> Bool {
        status != .zero && !signature.results.isEmpty
    }
}

/// The operations of a foreign library that stand for `open` and `close` of a gate.
public struct ForeignLifecycle: Sendable, Hashable {
    /// Takes the configuration fields that its parameters name. Its results fill the parameters of the same names in
    /// every other operation.
    public var open: String?
    /// Takes the results of `open`.
    public var close: String?
}
