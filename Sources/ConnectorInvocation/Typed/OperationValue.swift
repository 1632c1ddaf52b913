// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A Swift value that can be an argument of an operation: see ``GateClient/call(_:_:_:options:)``.
///
/// Every call checks the value against the parameter's type. An `Int` fits any integer type that can represent it, and the
/// floating-point types. A `Double` without a fractional part also fits an integer type.
public protocol OperationValue: JSONRepresentable {
    /// Sets a parameter of a prepared call to the value. The default implementation uses ``json``.
    ///
    /// - Parameter index: The parameter's position among the `in` parameters.
    /// - Throws: `invalid`, with the signature, if the value has another type or is outside the parameter's range.
    func set(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError)
}

extension OperationValue {
    /// Sets a parameter of a prepared call to the JSON value.
    public func set(in call: borrowing PreparedCall, at index: Int) throws(ConnectorError) {
        try call.set(json, at: index)
    }
}

extension JSONValue: OperationValue {
    /// The value itself.
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

    /// The number. Parameters accept only finite numbers.
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
