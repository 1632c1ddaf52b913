// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
public import ConnectorBase
internal import ConnectorManifest

extension TypedOperation where Function == OperationFunction.Texts1 {
    /// Calls the operation with the texts as its parameters, in order, and awaits its result.
    ///
    /// Pass nil only for an optional parameter.
    ///
    /// The timeout of `options` covers the wait for a turn and the call.
    ///
    /// - Returns: The result: a `json` result's value, a `string` result as a string, a `bytes` result as
    ///   `{"base64": "…"}`; null if there is none.
    /// - Throws: `invalid` if a required text is nil, and every error of ``call(_:_:)``.
    public func callAsFunction(
        _ text: String?,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        try requireTexts([text == nil])
        let bytes = try await unsafe call(options) { function, instance, call, error in
            unsafe TextOperation.lend(text) { bytes0, count0 in
                unsafe function.function(instance, call, bytes0, count0, error)
            }
        }
        return try json(bytes)
    }
}

extension TypedOperation where Function == OperationFunction.Texts2 {
    /// Calls the operation with the texts as its parameters, in order, and awaits its result.
    ///
    /// Pass nil only for an optional parameter.
    ///
    /// The timeout of `options` covers the wait for a turn and the call.
    ///
    /// - Returns: The result: a `json` result's value, a `string` result as a string, a `bytes` result as
    ///   `{"base64": "…"}`; null if there is none.
    /// - Throws: `invalid` if a required text is nil, and every error of ``call(_:_:)``.
    public func callAsFunction(
        _ first: String?,
        _ second: String?,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        try requireTexts([first == nil, second == nil])
        let bytes = try await unsafe call(options) { function, instance, call, error in
            unsafe TextOperation.lend(first) { bytes0, count0 in
                unsafe TextOperation.lend(second) { bytes1, count1 in
                    unsafe function.function(instance, call, bytes0, count0, bytes1, count1, error)
                }
            }
        }
        return try json(bytes)
    }
}

extension TypedOperation where Function == OperationFunction.Texts3 {
    /// Calls the operation with the texts as its parameters, in order, and awaits its result.
    ///
    /// Pass nil only for an optional parameter.
    ///
    /// The timeout of `options` covers the wait for a turn and the call.
    ///
    /// - Returns: The result: a `json` result's value, a `string` result as a string, a `bytes` result as
    ///   `{"base64": "…"}`; null if there is none.
    /// - Throws: `invalid` if a required text is nil, and every error of ``call(_:_:)``.
    public func callAsFunction(
        _ first: String?,
        _ second: String?,
        _ third: String?,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        try requireTexts([first == nil, second == nil, third == nil])
        let bytes = try await unsafe call(options) { function, instance, call, error in
            unsafe TextOperation.lend(first) { bytes0, count0 in
                unsafe TextOperation.lend(second) { bytes1, count1 in
                    unsafe TextOperation.lend(third) { bytes2, count2 in
                        unsafe function.function(instance, call, bytes0, count0, bytes1, count1, bytes2, count2, error)
                    }
                }
            }
        }
        return try json(bytes)
    }
}

extension TypedOperation {
    /// Checks that every required text is present, before the plugin is called.
    ///
    /// - Parameter isMissing: For each parameter, whether its text is nil.
    private func requireTexts(_ isMissing: [Bool]) throws(ConnectorError) {
        for (parameter, isMissing) in zip(handle.signature.parameters, isMissing)
        where isMissing && !parameter.isOptional {
            throw ConnectorError(
                .invalid,
                "\(handle.name) needs \"\(parameter.name)\"",
                fix: "call it as \(handle.name)\(handle.signature)",
                connector: handle.path
            )
        }
    }

    /// Converts the result to JSON by the signature's type.
    private func json(_ bytes: [UInt8]) throws(ConnectorError) -> JSONValue {
        guard let type = handle.signature.results.first?.type else { return .null }
        do throws(ConnectorError) {
            return try CallValue.bytes(bytes).json(as: type, handles: nil)
        } catch {
            throw handle.described(error)
        }
    }
}

extension TextOperation {
    /// Lends the body the bytes of a text.
    fileprivate static func lend(_ text: String?, _ body: (Text, UInt64) -> Int32) -> Int32 {
        guard var text else { return body(nil, 0) }
        return text.withUTF8 { unsafe lend($0, body) }
    }
}
