// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The state of a connector's outbox.
public struct OutboxReport: Sendable, Hashable {
    /// How many events wait, including those already tried.
    public var queued: Int
    /// The size of their payloads in bytes.
    public var bytes: Int
    /// When the application sent the oldest of them.
    public var oldest: Timestamp?
    /// How many dead letters there are.
    public var dead: Int
    /// How many events the vendor has accepted since the outbox was created.
    public var delivered: Int
    /// How many events were dropped to make room, or by an operator.
    public var dropped: Int
    /// When the vendor last accepted an event.
    public var lastDelivered: Timestamp?
    /// How many events per second the vendor accepted from this process in the last minute.
    public var perSecond: Double
    /// The durability guarantee of stored events.
    public var stability: String?
    /// Why the vendor does not accept events at the moment, in the words of the last attempt; nil if nothing is wrong.
    public var failure: String?
    /// The kind of that failure.
    public var code: ConnectorError.Code?
    /// The time of the next attempt; nil unless the last one failed, and while the next is under way.
    public var nextAttemptAt: Timestamp?
}

extension OutboxReport: CustomStringConvertible {
    /// One line, such as `3 queued, 120 delivered, 0 dead, 0 dropped; no connection [unavailable]`.
    public var description: String {
        let counts = "\(queued) queued, \(delivered) delivered, \(dead) dead, \(dropped) dropped"
        guard let failure else { return counts }
        return "\(counts); \(failure)" + (code.map { " [\($0)]" } ?? "")
    }
}
