// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A Swift value that operations accept: see ``GateClient/call(_:_:_:options:)``.
///
/// Every call checks the value against the parameter's type. An `Int` fits any integer type with room for it, and the
/// floating-point types. A `Double` without a fraction also fits an integer type.
public protocol OperationValue: Sendable {
    /// The value in JSON.
    var json: JSONValue { get }
}

extension JSONValue: OperationValue {
    /// Itself.
    public var json: JSONValue { self }
}

extension Int: OperationValue {
    /// The integer.
    public var json: JSONValue { .integer(Int64(self)) }
}

extension Int64: OperationValue {
    /// The integer.
    public var json: JSONValue { .integer(self) }
}

extension Double: OperationValue {
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
