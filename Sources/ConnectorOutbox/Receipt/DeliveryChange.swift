// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// What became of an event at one connector.
public struct DeliveryChange: Sendable {
    /// The connector, such as `analytics/segment`.
    public var connector: String
    /// The state of the event there now.
    public var state: State
    /// Why the vendor did not take it; nil if it did.
    public var error: ConnectorError?

    /// The state of an event.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It is in the outbox, and was not tried yet.
        case queued
        /// The vendor did not take it yet; it is tried again.
        case retrying
        /// The vendor has it.
        case delivered
        /// The vendor refuses it for good, or it grew too old: it is a dead letter.
        case dead
        /// It was given up to make room in a full outbox, or by an operator.
        case dropped

        /// Whether no further change follows.
        public var isFinal: Bool { self != .queued && self != .retrying }
    }

    /// Describes a change at a connector.
    package init(_ connector: String, _ state: State, error: ConnectorError? = nil) {
        self.connector = connector
        self.state = state
        self.error = error
    }

    /// Creates the change for a connector that no longer gets the event.
    static func dropped(at connector: String) -> Self {
        let error = ConnectorError(
            .failed,
            "the event was dropped, to make room in a full outbox or by an operator",
            fix: "if the outbox was full, raise \"maxBytes\" or change \"whenFull\" of \"outbox\"",
            connector: connector
        )
        return Self(connector, .dropped, error: error)
    }

    /// The error of a connector whose outbox was full, and did not store the event.
    package static func turnedAway(at connector: String) -> ConnectorError {
        ConnectorError(
            .failed,
            "the outbox was full and dropped the event (\"whenFull\": \"dropNewest\")",
            fix: "send it again later, or raise \"maxBytes\" or change \"whenFull\" of \"outbox\"",
            connector: connector
        )
    }
}

extension DeliveryChange: CustomStringConvertible {
    /// One line, such as `shop/crm: delivered` or `shop/crm: dead, no such user [invalid]`.
    public var description: String {
        "\(connector): \(state.rawValue)" + (error.map { ", \($0.asCause)" } ?? "")
    }
}
