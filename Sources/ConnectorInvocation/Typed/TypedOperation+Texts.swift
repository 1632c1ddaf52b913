// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
public import ConnectorManifest

extension TypedOperation where Function == OperationFunction.Texts1 {
    /// Calls the operation and waits for its completion; the texts are the parameters in order, nil only where it may be.
    ///
    /// `options` says how long that may take, from the wait for its turn to its completion.
    ///
    /// - Returns: The result: of `json` what it says, of `string` a string, of `bytes` `{"base64": "…"}`; null if there is none.
    /// - Throws: `invalid` for nil where there must be a text, and everything that ``call(_:_:)`` throws.
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
    /// Calls the operation and waits for its completion; the texts are the parameters in order, nil only where it may be.
    ///
    /// `options` says how long that may take, from the wait for its turn to its completion.
    ///
    /// - Returns: The result: of `json` what it says, of `string` a string, of `bytes` `{"base64": "…"}`; null if there is none.
    /// - Throws: `invalid` for nil where there must be a text, and everything that ``call(_:_:)`` throws.
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
    /// Calls the operation and waits for its completion; the texts are the parameters in order, nil only where it may be.
    ///
    /// `options` says how long that may take, from the wait for its turn to its completion.
    ///
    /// - Returns: The result: of `json` what it says, of `string` a string, of `bytes` `{"base64": "…"}`; null if there is none.
    /// - Throws: `invalid` for nil where there must be a text, and everything that ``call(_:_:)`` throws.
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
    /// Objects to a missing text before the plugin sees it.
    ///
    /// - Parameter isMissing: For each parameter, whether there is none.
    private func requireTexts(_ isMissing: [Bool]) throws(ConnectorError) {
        for (parameter, isMissing) in zip(handle.signature.parameters, isMissing)
        where isMissing && !parameter.isOptional {
            throw ConnectorError(
                .invalid,
                "\(handle.name) needs \"\(parameter.name)\"",
                fix: "its signature is \(handle.name)\(handle.signature)",
                connector: handle.path
            )
        }
    }

    /// What the operation completed with, as its signature means it.
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
    /// Lends the bytes of a text for the duration of a call; an empty one has an address, since null stands for none.
    fileprivate static func lend(_ text: String?, _ body: (Text, UInt64) -> Int32) -> Int32 {
        guard var text else { return body(nil, 0) }
        guard !text.isEmpty else {
            var nothing: UInt8 = 0
            return unsafe withUnsafePointer(to: &nothing) { unsafe body($0, 0) }
        }
        return text.withUTF8 { unsafe body($0.baseAddress, UInt64($0.count)) }
    }
}
