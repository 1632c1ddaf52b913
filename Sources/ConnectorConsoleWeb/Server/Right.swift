// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What somebody may do.
enum Right: Sendable, Hashable {
    /// See everything.
    case read
    /// See everything, and act on it.
    case act
}
