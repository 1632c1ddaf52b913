// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The state of a connector.
public enum GateState: String, Sendable, Hashable, CaseIterable {
    /// Not opened yet, or closed.
    case closed
    /// An attempt to open is in progress, or the next attempt of `retry` is due.
    case opening
    /// Recent evidence shows that the outside world responds.
    case open
    /// The gate was open, and its last proof failed. For a composite: enough children are usable, but not all are open.
    case degraded
    /// Every attempt to open failed, or three consecutive proofs did. The gate is retried until it is closed.
    case failed
    /// Calls in flight are finishing; then the plugin disconnects.
    case closing

    /// Whether calls pass through.
    public var isUsable: Bool { self == .open || self == .degraded }
}
