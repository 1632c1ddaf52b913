// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorInvocation
public import ConnectorManifest

/// The same calls with values of the application's own types.
extension AnalyticsClient {
    /// Records that the user did something, as ``track(_:_:options:)`` does.
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
    ///   - event: What was done.
    ///   - properties: A value that becomes an object: see `JSONValue.init(encoding:)` for how.
    ///   - options: How long the call may take.
    /// - Throws: `invalid` for properties that cannot be written as an object, before anything is sent.
    public func track(
        _ event: String,
        properties: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await track(event, JSONObject(encoding: properties), options: options)
    }

    /// Says who the user is, from now on, with traits that become an object.
    @_disfavoredOverload  // A literal stays a JSONObject, in the order in which it is written.
    public func identify(
        _ userId: String,
        traits: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await identify(userId, traits: JSONObject(encoding: traits), options: options)
    }

    /// Records that the user saw a screen of an application, with properties that become an object.
    public func screen(
        _ name: String,
        properties: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await screen(name, JSONObject(encoding: properties), options: options)
    }

    /// Records that the user saw a page of a site, with properties that become an object.
    public func page(
        _ name: String,
        category: String? = nil,
        properties: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await page(name, category: category, JSONObject(encoding: properties), options: options)
    }

    /// Puts the user into a group, with traits that become an object.
    @_disfavoredOverload
    public func group(
        _ groupId: String,
        traits: some Encodable,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        try await group(groupId, traits: JSONObject(encoding: traits), options: options)
    }
}
