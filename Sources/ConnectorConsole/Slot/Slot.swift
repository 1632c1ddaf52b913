// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A part of the screen in which a platform mounts a scene.
package enum Slot: String, Sendable, Hashable, CaseIterable {
    /// The tabs.
    case navigation
    /// The scene of the current route.
    case main
    /// The scene that the selected row links to, on wide screens.
    case side
    /// The last line: messages and keys.
    case status
    /// A dialog in front of everything else.
    case overlay
}
