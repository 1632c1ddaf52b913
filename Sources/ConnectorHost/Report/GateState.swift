// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The state of a connector.
public enum GateState: String, Sendable, Hashable, CaseIterable {
    /// Not opened yet, or closed again.
    case closed
    /// An attempt to open is in progress, or the next attempt of `retry` is due.
    case opening
    /// Fresh evidence shows that the outside world answers.
    case open
    /// The gate was open, and its last proof failed. For a composite: enough children are usable, but not all are open.
    case degraded
    /// Every attempt to open failed, or three proofs in a row did. The gate is tried again until it is closed.
    case failed
    /// Calls in flight finish, then the plugin disconnects.
    case closing

    /// Whether calls pass through.
    public var isUsable: Bool { self == .open || self == .degraded }
}
