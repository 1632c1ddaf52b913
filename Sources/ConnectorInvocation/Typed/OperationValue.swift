// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A Swift value that operations accept: see ``GateClient/call(_:_:_:options:)``.
///
/// Every call checks the value against the parameter's type. An `Int` fits any integer type with room for it, and the
/// floating-point types. A `Double` without a fraction also fits an integer type.
public protocol OperationValue: Sendable {
    /// The value in JSON.
    var json: JSONValue { get }

    /// Sets a parameter of a prepared call to the value. The default goes by way of ``json``.
    ///
    /// - Parameter index: The parameter's position among those that carry a value in.
    /// - Throws: `invalid`, with the signature, if the value has another type or is outside the parameter's range.
    func set(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError)
}

extension OperationValue {
    /// Sets a parameter of a prepared call to the value in JSON.
    public func set(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(json, at: index)
    }
}

extension JSONValue: OperationValue {
    /// Itself.
    public var json: JSONValue { self }
}

extension Int: OperationValue {
    /// Stores the integer in its slot.
    public func set(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }

    /// The integer.
    public var json: JSONValue { .integer(Int64(self)) }
}

extension Int64: OperationValue {
    /// Stores the integer in its slot.
    public func set(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }

    /// The integer.
    public var json: JSONValue { .integer(self) }
}

extension Double: OperationValue {
    /// Stores the number in its slot.
    public func set(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(self, at: index)
    }

    /// The number. Only finite numbers fit a parameter.
    public var json: JSONValue { .number(self) }
}

extension Bool: OperationValue {
    /// The Boolean, which only a `json` parameter accepts.
    public var json: JSONValue { .bool(self) }
}

extension String: OperationValue {
    /// The text.
    public var json: JSONValue { .string(self) }
}
