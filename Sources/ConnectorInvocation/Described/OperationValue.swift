// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A Swift value that operations accept: see ``GateClient/call(_:_:_:options:)`` and ``PreparedCall``.
///
/// Every call checks the value against the parameter's type. An `Int` fits any integer type with room for it, and the
/// floating-point types. A `Double` without a fraction also fits an integer type.
public protocol OperationValue: Sendable {
    /// The value in JSON.
    var json: JSONValue { get }

    /// Stores the value as a parameter.
    ///
    /// - Parameter index: The parameter's position among those that carry a value in.
    /// - Throws: `invalid`, with the signature, if the value does not fit.
    func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError)
}

extension OperationValue {
    /// Stores the value as a parameter, by way of its JSON.
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

    /// Stores the integer as a parameter.
    @inlinable
    public func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }
}

extension Int64: OperationValue {
    /// The integer.
    public var json: JSONValue { .integer(self) }

    /// Stores the integer as a parameter.
    @inlinable
    public func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }
}

extension Double: OperationValue {
    /// The number. Only finite numbers fit a parameter.
    public var json: JSONValue { .number(self) }

    /// Stores the number as a parameter.
    @inlinable
    public func store(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }
}

extension Bool: OperationValue {
    /// The Boolean, which only a `json` parameter accepts.
    public var json: JSONValue { .bool(self) }
}

extension String: OperationValue {
    /// The text.
    public var json: JSONValue { .string(self) }
}
