// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A place that a platform offers for a scene.
package enum Slot: String, Sendable, Hashable, CaseIterable {
    /// The tabs.
    case navigation
    /// What the route leads to.
    case main
    /// What the selected row leads to, where there is room.
    case side
    /// The last line: messages, and what keys do.
    case status
    /// In front of everything else.
    case overlay
}
