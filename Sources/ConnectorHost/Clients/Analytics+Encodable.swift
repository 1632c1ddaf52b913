// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorOutbox

/// The same calls, with `Encodable` values.
extension Analytics {
    /// Records an action of the user, as ``track(_:_:options:)`` does.
    ///
    /// ```swift
    /// struct Order: Encodable {
    ///     var id: String
    ///     var total: Double
    /// }
    ///
    /// try await analytics.track("Order Completed", properties: Order(id: "A-1", total: 42.5))
    /// ```
    ///
    /// - Parameters:
    ///   - event: The name of the action.
    ///   - properties: A value that encodes as an object, as `JSONValue.init(encoding:)` describes.
    ///   - options: The timeout of the call.
    /// - Throws: `invalid` for properties that do not encode as an object, before anything is sent.
    @discardableResult
    public func track(
        _ event: String,
        properties: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await track(event, encoded(properties), options: options)
    }

    /// Identifies the user of all later events, with traits that encode as an object.
    @_disfavoredOverload  // A literal stays a JSONObject and keeps its order.
    @discardableResult
    public func identify(
        _ userId: String,
        traits: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await identify(userId, traits: encoded(traits), options: options)
    }

    /// Records that the user saw a screen of the application, with properties that encode as an object.
    @discardableResult
    public func screen(
        _ name: String,
        properties: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await screen(name, encoded(properties), options: options)
    }

    /// Records that the user saw a page of a site, with properties that encode as an object.
    @discardableResult
    public func page(
        _ name: String,
        category: String? = nil,
        properties: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await page(name, category: category, encoded(properties), options: options)
    }

    /// Adds the user to a group, with traits that encode as an object.
    @_disfavoredOverload
    @discardableResult
    public func group(
        _ groupId: String,
        traits: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await group(groupId, traits: encoded(traits), options: options)
    }

    private func encoded(_ value: some Encodable) throws(ConnectorError) -> JSONObject {
        try ClientTarget.checked(for: self) { () throws(ConnectorError) in try JSONObject(encoding: value) }
    }
}
