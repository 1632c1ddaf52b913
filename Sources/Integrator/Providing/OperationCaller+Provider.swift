// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension OperationCaller {
    /// An operation as a data provider, for `CallFlow` and its combinators.
    ///
    /// ```swift
    /// let places = CallFlow(provider: geocoder.provider("geocode"), model: Places.self, execution: .latest)
    /// ```
    ///
    /// - Parameters:
    ///   - operation: The operation's name.
    ///   - options: The timeout of each request.
    /// - Returns: A provider that takes the arguments by parameter and answers with the result. Cancelling a request
    ///   cancels the plugin's call.
    public func provider(
        _ operation: String,
        options: CallOptions = CallOptions()
    ) -> ClosureProvider<JSONObject, JSONValue> {
        ClosureProvider { arguments in try await call(operation, arguments, options: options) }
    }
}
