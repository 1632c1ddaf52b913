// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// How the outbox of a connector stands.
public struct OutboxReport: Sendable, Hashable {
    /// How many events wait, those that were tried before included.
    public var queued: Int
    /// How many bytes their payloads have.
    public var bytes: Int
    /// When the oldest of them was sent.
    public var oldest: Timestamp?
    /// How many dead letters there are.
    public var dead: Int
    /// How many events the vendor has taken since the outbox was made.
    public var delivered: Int
    /// How many events were dropped to make room, or by an operator.
    public var dropped: Int
    /// When the vendor last took an event.
    public var lastDelivered: Timestamp?
    /// How many events a second the vendor took from this process within the last minute.
    public var perSecond: Double
    /// What it takes to lose an event that is stored.
    public var stability: String?
    /// Why the vendor does not take the events now, in the words of the last attempt; nil if nothing is wrong.
    public var failure: String?
    /// The kind of that failure.
    public var code: ConnectorError.Code?
    /// When the next attempt is; nil unless the last one failed.
    public var nextAttemptAt: Timestamp?
}
