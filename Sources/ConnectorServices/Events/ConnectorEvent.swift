// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// An unsolicited event from a plugin.
public struct ConnectorEvent: Sendable, Hashable {
    /// The path of the plugin's connector, such as `database/kinto`.
    public var connector: String
    /// The plugin's name for the event: letters, digits, `.`, `_` and `-`.
    public var name: String
    /// Details, without secrets; `null` if there are none.
    public var payload: JSONValue
    /// The time of the event, by the host's clock.
    public var time: Timestamp
    /// The number of events lost just before this one because the listener was slow.
    public var missed: Int

    /// Creates an event, for tests of a listener.
    public init(
        connector: String,
        name: String,
        payload: JSONValue = .null,
        time: Timestamp = Timestamp(nanoseconds: 0),
        missed: Int = 0
    ) {
        self.connector = connector
        self.name = name
        self.payload = payload
        self.time = time
        self.missed = missed
    }
}
