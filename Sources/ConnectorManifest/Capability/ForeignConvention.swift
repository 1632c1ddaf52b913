// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How a function of a library that knows nothing of connectors tells whether it succeeded.
public struct ForeignConvention: Sendable, Hashable {
    /// What of the return value means success.
    public var status: Status
    /// What numbers mean, by the names of error codes such as `conflict`.
    public var codes: [Int64: ConnectorError.Code]
    /// The parameters whose handles the library frees: they are taken back before the call and mean nothing after it.
    public var releases: [String]

    /// A way to tell success by the value that a function returns; the raw value stands in the manifest.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// It cannot fail, but with a number that `codes` names: the value, if the signature has one, is the result.
        case none
        /// Zero is success, anything else a number that says why not.
        case zero
        /// A negative value is a number that says why not, anything else the result.
        case negative
        /// A null pointer is a failure, anything else the result.
        case null
        /// -1 is a failure, and `errno` says why; anything else is the result.
        case errno
    }

    /// Whether the signature's single result is what the function returns.
    package func returnsValue(of signature: Signature) -> Bool {
        status != .zero && !signature.results.isEmpty
    }
}

/// The operations of a foreign library that stand for `open` and `close` of a gate.
public struct ForeignLifecycle: Sendable, Hashable {
    /// Called with the configuration's fields of its parameters' names; what it answers fills the parameters of the same names
    /// in all other operations.
    public var open: String?
    /// Called with what `open` answered.
    public var close: String?
}
