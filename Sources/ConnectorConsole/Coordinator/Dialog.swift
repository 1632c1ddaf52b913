// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What is in front of the scene, and has every key until it is answered.
package enum Dialog: Sendable, Hashable {
    /// What the keys do.
    case help
    /// Whether to do what cannot be undone.
    case confirmation(ConsoleAct)
}
