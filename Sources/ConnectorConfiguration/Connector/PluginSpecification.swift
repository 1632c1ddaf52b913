// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The plugin that a leaf names.
package struct PluginSpecification: Sendable, Hashable, CustomStringConvertible {
    /// The plugin's id or path.
    package let name: String
    /// The plugin itself, if the application links it; there is nothing to find then.
    package private(set) var linked: LinkedPlugin?
    /// The required version; nil for the highest.
    package let version: SemanticVersion?

    /// Creates a specification from an id or an already resolved path.
    package init(_ name: String, version: SemanticVersion? = nil) {
        self.name = name
        self.version = version
    }

    /// Creates a specification of a plugin that the application links, named by the id in its manifest.
    package init(_ linked: LinkedPlugin) {
        // Without a valid id there is no usable manifest either, which is an error once the leaf is resolved.
        let id = (try? JSONValue(parsing: linked.manifest))?["id"]?.string ?? ""
        self.init(isIdentifier(id) ? id : "linked")
        self.linked = linked
    }

    /// Whether the name is the path of a file.
    package var isPath: Bool { name.utf8.contains(UInt8(ascii: "/")) }

    /// The name, a path as it was given, and the version, such as `segment 1.2.0`.
    package var description: String { name.withGivenPaths + (version.map { " \($0)" } ?? "") }
}
