// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A dialog in front of the scene, which takes every key until it is answered.
package enum Dialog: Sendable, Hashable {
    /// The list of keys.
    case help
    /// A question before an action that cannot be undone.
    case confirmation(ConsoleAct)
}
