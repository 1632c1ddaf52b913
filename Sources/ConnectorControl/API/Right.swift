// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The right that a client has, and that an endpoint requires.
package enum Right: String, Sendable, Hashable {
    /// Reads everything.
    case read
    /// Reads everything, changes gates and the outbox, and calls operations.
    case act
}
