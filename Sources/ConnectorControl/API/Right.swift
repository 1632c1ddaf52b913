// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What somebody may do, or has to be allowed for a request.
package enum Right: String, Sendable, Hashable {
    /// Learn everything.
    case read
    /// Learn everything, change something, and reach a vendor.
    case act
}
