// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A plugin in one of the host's directories.
package struct PluginSummary: Sendable, Hashable {
    /// Its file.
    package var path: String
    /// What it says of itself; nil if that cannot be read.
    package var manifest: Manifest?
    /// Why it cannot be used; nil if it can.
    package var problem: String?

    /// Takes its parts.
    package init(path: String, manifest: Manifest?, problem: String?) {
        self.path = path
        self.manifest = manifest
        self.problem = problem
    }

    /// What it is called in the console: its id, or the file if it has none.
    package var name: String { manifest?.id ?? path }
}
