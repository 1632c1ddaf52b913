// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A Swift value that an operation can be called with: see ``GateClient/call(_:_:_:options:)`` and ``PreparedCall``.
///
/// Whether it fits is checked against the parameter's type at every call: an `Int` fits any integer type that has room for it, and
/// the floating-point types; a `Double` without fraction fits an integer type, too.
public protocol OperationValue: Sendable {
    /// The value as it is written in JSON.
    var json: JSONValue { get }

    /// Puts the value in place of a parameter.
    ///
    /// - Parameter index: Which one, counted among those that carry a value in.
    /// - Throws: `invalid`, with the signature.
    func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError)
}

extension OperationValue {
    /// Puts the value in place of a parameter, as what its JSON is.
    public func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(json, at: index)
    }
}

extension JSONValue: OperationValue {
    /// Itself.
    public var json: JSONValue { self }
}

extension Int: OperationValue {
    /// The integer.
    public var json: JSONValue { .integer(Int64(self)) }

    /// Puts the integer in place of a parameter.
    @inlinable
    public func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }
}

extension Int64: OperationValue {
    /// The integer.
    public var json: JSONValue { .integer(self) }

    /// Puts the integer in place of a parameter.
    @inlinable
    public func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }
}

extension Double: OperationValue {
    /// The number; nothing that is not finite fits a parameter.
    public var json: JSONValue { .number(self) }

    /// Puts the number in place of a parameter.
    @inlinable
    public func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }
}

extension Bool: OperationValue {
    /// The truth value, which only a `json` parameter takes.
    public var json: JSONValue { .bool(self) }
}

extension String: OperationValue {
    /// The text.
    public var json: JSONValue { .string(self) }
}
