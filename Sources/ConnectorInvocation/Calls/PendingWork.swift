// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a plugin has pending that may complete an operation, when the operation's deadline comes.
package enum PendingWork: Sendable, Hashable {
    /// Nothing of the host's: the plugin works on a thread or a task of its own, or has forgotten the operation.
    case nothing
    /// A timer, a callback, or work of which the host does not know whether it is for this operation.
    case other
    /// A request, or a call of a used gate: why it has not ended.
    case late(ServiceFailure)
}
