// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How a gate stands to the outside world.
public enum GateState: String, Sendable, Hashable, CaseIterable {
    /// Not opened yet, or closed again.
    case closed
    /// An attempt to open is under way, or the next one is waited for.
    case opening
    /// There is fresh evidence that the outside world is there.
    case open
    /// It was open, and the last proof failed; of a composite: some of its children are not open.
    case degraded
    /// Every attempt to open failed, or proof failed repeatedly.
    case failed
    /// Calls in flight are finished, then the plugin disconnects.
    case closing

    /// Whether calls pass through.
    public var isUsable: Bool { self == .open || self == .degraded }
}
