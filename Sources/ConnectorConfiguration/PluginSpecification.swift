// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The plugin that a leaf names.
package struct PluginSpecification: Sendable, Hashable, CustomStringConvertible {
    /// The plugin's id or path.
    package let name: String
    /// The required version; nil for the highest.
    package let version: SemanticVersion?

    /// Creates a specification from an id or an already resolved path.
    package init(_ name: String, version: SemanticVersion? = nil) {
        self.name = name
        self.version = version
    }

    /// Whether the name is the path of a file.
    package var isPath: Bool { name.utf8.contains(UInt8(ascii: "/")) }

    /// The name and the version, such as `segment 1.2.0`.
    package var description: String { name + (version.map { " \($0)" } ?? "") }
}
