// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A simulation or a replayed recording that answers in place of a gate's vendor.
package struct SimulatedVendor: Sendable, Hashable {
    /// The path of its root on its server, without a trailing slash; it is not part of the vendor's own paths.
    package var path: String
    /// The name under which its server knows it, if all paths are its own; nil if the server knows it by its path.
    package var name: String?
    /// The time of day that the plugin reads, because a recording is replayed; nil for the host's.
    package var time: Timestamp?

    /// Describes a vendor.
    package init(path: String = "", name: String? = nil, time: Timestamp? = nil) {
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
        self.name = name
        self.time = time
    }
}
