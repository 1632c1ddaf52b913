// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// A plugin in one of the host's directories.
package struct PluginSummary: Sendable, Hashable {
    /// The plugin's file.
    package var path: String
    /// The manifest; nil if it cannot be read.
    package var manifest: Manifest?
    /// Why the plugin cannot be used; nil if it can.
    package var problem: String?
    /// The conformance level that this file's bytes are certified for, from 1 to 10; nil without a certificate.
    package var level: Int?

    /// Creates a summary.
    package init(path: String, manifest: Manifest?, problem: String?, level: Int? = nil) {
        self.path = path
        self.manifest = manifest
        self.problem = problem
        self.level = level
    }

    /// The plugin's name in the console: its id, or the file if it has none.
    package var name: String { manifest?.id ?? path }
}
