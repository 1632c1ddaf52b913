// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A dialog in front of the scene, which receives every key until it is closed.
package enum Dialog: Sendable, Hashable {
    /// The list of keys.
    case help
    /// Confirms an action that cannot be undone.
    case confirmation(ConsoleAct)
}
