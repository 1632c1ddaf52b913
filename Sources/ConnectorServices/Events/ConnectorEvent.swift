// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// News that a plugin told of its own accord.
public struct ConnectorEvent: Sendable, Hashable {
    /// The path of the connector that it comes from, such as `database/kinto`.
    public var connector: String
    /// What happened, in the plugin's words: letters, digits, `.`, `_` and `-`.
    public var name: String
    /// More about it, without secrets; `null` if there is no more.
    public var payload: JSONValue
    /// When, by the host's clock.
    public var time: Timestamp
    /// How many events just before this one were lost, since the listener was slow.
    public var missed: Int

    /// Makes an event, as tests of a listener need it.
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
