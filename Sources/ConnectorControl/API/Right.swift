// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a client may do, and what a request requires.
package enum Right: String, Sendable, Hashable {
    /// Learn everything.
    case read
    /// Learn everything, change something, and reach a vendor.
    case act
}
