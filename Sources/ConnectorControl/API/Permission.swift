// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A permission that a client has and that an endpoint requires.
package enum Permission: String, Sendable, Hashable {
    /// Reads everything except plans, which show values of `config`.
    case read
    /// Also reads plans, changes gates, the outbox and the configuration, and calls operations.
    case act
}
