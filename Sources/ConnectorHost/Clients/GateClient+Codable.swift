// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorInvocation
public import ConnectorManifest

/// The same calls with values of the application's own types.
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
    ///   - operation: Its name; `capability/operation` where two capabilities share one.
    ///   - arguments: By parameter.
    ///   - type: What the result makes: see `JSONValue.decode(as:)` for how.
    ///   - options: How long it may take.
    /// - Throws: `invalid` with the path to what does not fit the type; otherwise as ``call(_:_:options:)`` does.
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
    ///   - operation: Its name; `capability/operation` where two capabilities share one.
    ///   - first: The first value.
    ///   - rest: The others; parameters at the end that are optional may be left out.
    ///   - type: What the result makes.
    ///   - options: How long it may take.
    /// - Throws: `invalid` with the path to what does not fit the type; otherwise as ``call(_:_:options:)`` does.
    public func call<First: OperationValue, each Rest: OperationValue, Value: Decodable>(
        _ operation: String,
        _ first: First,
        _ rest: repeat each Rest,
        as type: Value.Type,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        try decoded(await call(operation, first, repeat each rest, options: options), as: type)
    }

    /// Calls an operation with the members of a value by parameter, and decodes its result.
    ///
    /// - Parameters:
    ///   - operation: Its name; `capability/operation` where two capabilities share one.
    ///   - arguments: A value that becomes an object: see `JSONValue.init(encoding:)` for how.
    ///   - type: What the result makes; `JSONValue` takes any.
    ///   - options: How long it may take.
    /// - Throws: `invalid` for arguments that cannot be written as an object, before anything is called; otherwise as
    ///   the other form does.
    @_disfavoredOverload  // A literal stays a JSONObject, in the order in which it is written.
    public func call<Value: Decodable>(
        _ operation: String,
        _ arguments: some Encodable,
        as type: Value.Type,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        let members: JSONObject
        do throws(ConnectorError) {
            members = try JSONObject(encoding: arguments)
        } catch {
            throw target.described(error)
        }
        return try await call(operation, members, as: type, options: options)
    }

    private func decoded<Value: Decodable>(
        _ answer: JSONValue,
        as type: Value.Type
    ) throws(ConnectorError) -> Value {
        do throws(ConnectorError) {
            return try answer.decode(as: type)
        } catch {
            throw target.described(error)
        }
    }
}
