// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A gate that a leaf's plugin uses, bound to a connector.
package struct BoundUse: Sendable, Hashable {
    /// The name and the capability, as in the manifest.
    package var use: GateUse
    /// The path of the connector that is called.
    package var connector: String
    /// Whether the host chose the connector, because the file does not name one.
    package var isAutomatic: Bool

    /// Creates a bound use.
    package init(_ use: GateUse, to connector: String, isAutomatic: Bool = false) {
        self.use = use
        self.connector = connector
        self.isAutomatic = isAutomatic
    }
}
