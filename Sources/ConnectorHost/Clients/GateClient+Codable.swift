// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorInvocation

/// The same calls, with `Codable` values.
extension GateClient {
    /// Calls an operation and decodes its result.
    ///
    /// ```swift
    /// struct Greeting: Decodable {
    ///     var text: String
    /// }
    ///
    /// let greeting = try await host.gate("greeter").call("greet", ["name": "Ada"], as: Greeting.self)
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The operation; `capability/operation` if two capabilities share the name.
    ///   - arguments: The arguments by parameter.
    ///   - type: The type to decode the result as, as `JSONValue.decode(as:)` describes.
    ///   - options: The timeout of the call.
    /// - Throws: `invalid`, with the path to the part that does not fit the type; otherwise as ``call(_:_:options:)``
    ///   does.
    public func call<Value: Decodable>(
        _ operation: String,
        _ arguments: JSONObject = [:],
        as type: Value.Type,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        try decoded(await call(operation, arguments, options: options), as: type)
    }

    /// Calls an operation with values in the order of its parameters, and decodes its result.
    ///
    /// ```swift
    /// let sum = try await host.gate("calculator").call("add", 1, 2, as: Double.self)
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The operation; `capability/operation` if two capabilities share the name.
    ///   - first: The first value.
    ///   - rest: The other values; trailing optional parameters may be omitted.
    ///   - type: The type to decode the result as.
    ///   - options: The timeout of the call.
    /// - Throws: `invalid`, with the path to the part that does not fit the type; otherwise as ``call(_:_:options:)``
    ///   does.
    public func call<First: OperationValue, each Rest: OperationValue, Value: Decodable>(
        _ operation: String,
        _ first: First,
        _ rest: repeat each Rest,
        as type: Value.Type,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        try decoded(await call(operation, first, repeat each rest, options: options), as: type)
    }

    /// Calls an operation with the members of a value as arguments, and decodes its result.
    ///
    /// - Parameters:
    ///   - operation: The operation; `capability/operation` if two capabilities share the name.
    ///   - arguments: A value that encodes as an object, as `JSONValue.init(encoding:)` describes.
    ///   - type: The type to decode the result as; `JSONValue` accepts any.
    ///   - options: The timeout of the call.
    /// - Throws: `invalid` for arguments that do not encode as an object, before any call; otherwise as the other form
    ///   does.
    @_disfavoredOverload  // A literal stays a JSONObject and keeps its order.
    public func call<Value: Decodable>(
        _ operation: String,
        _ arguments: some Encodable,
        as type: Value.Type,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        let members = try target.checked { () throws(ConnectorError) in try JSONObject(encoding: arguments) }
        return try await call(operation, members, as: type, options: options)
    }

    private func decoded<Value: Decodable>(
        _ answer: JSONValue,
        as type: Value.Type
    ) throws(ConnectorError) -> Value {
        try target.checked { () throws(ConnectorError) in try answer.decode(as: type) }
    }
}
