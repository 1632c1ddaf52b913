// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What takes the place of a gate's vendor.
package struct SimulatedVendor: Sendable, Hashable {
    /// The path of its root on its server, without a slash at the end: the vendor knows nothing of it.
    package var path: String
    /// The time of day that the plugin reads, because a recording is replayed; nil for the host's.
    package var time: Timestamp?

    /// Describes a vendor.
    package init(path: String = "", time: Timestamp? = nil) {
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
        self.time = time
    }
}
