// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// Unsolicited events for the application (`events/1`). The host adds the connector's path and the time.
public struct Events: Sendable {
    /// The most JSON of one event, in bytes: `CONNECTOR_EVENT_JSON_LIMIT`.
    package static let byteLimit = 64 << 10

    private let send: @Sendable (String, JSONValue) throws(PluginError) -> Void

    /// Creates a service that passes events to a closure, for tests.
    public init(_ send: @escaping @Sendable (String, JSONValue) throws(PluginError) -> Void) {
        self.send = send
    }

    /// Sends an event to the current listeners, without waiting for them.
    ///
    /// - Parameters:
    ///   - name: A letter followed by letters, digits, `.`, `_` and `-`, at most 64 bytes.
    ///   - value: At most 64 KiB of JSON.
    /// - Throws: A ``PluginError`` if the name or the size breaks these rules. Having no listeners is not an error.
    public func emit(_ name: String, _ value: JSONValue = .null) throws(PluginError) {
        try send(name, value)
    }
}
