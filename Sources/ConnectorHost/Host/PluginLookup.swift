// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// Finds the plugins that a configuration names: by id in the directories, or by path.
package struct PluginLookup: Sendable {
    /// Everything in the directories.
    package let catalog: PluginCatalog
    /// What was given instead of directories, by id.
    private var files: [String: Result<PluginCandidate, ConnectorError>] = [:]

    /// Looks through the directories of the file, then of `CONNECTOR_PLUGIN_PATH`, then of the options.
    package init(configuration: Configuration, options: ConnectorHost.Options) {
        self.init(directories: configuration.pluginDirectories, options: options)
    }

    /// Looks through directories, then those of `CONNECTOR_PLUGIN_PATH`, then those of the options.
    package init(directories: [String], options: ConnectorHost.Options) {
        let path = options.environment["CONNECTOR_PLUGIN_PATH"] ?? ""
        catalog = PluginCatalog(
            directories: directories + path.split(separator: ":").map(String.init) + options.pluginDirectories
        )
    }

    /// Takes images, or sidecars, instead of looking for any; connectors name them by id.
    package init(files: [String]) {
        catalog = PluginCatalog(directories: [])
        for file in files {
            let entry = PluginCatalog.entry(path: file)
            guard let id = entry.id else { continue }
            let missing = ConnectorError(.unknownPlugin, "\(file) is not usable")
            self.files[id] = entry.candidate.map { .success($0) } ?? .failure(entry.error ?? missing)
        }
    }

    /// What to load for a leaf; or why there is nothing.
    package func candidate(_ plugin: PluginSpecification) -> Result<PluginCandidate, ConnectorError> {
        if let file = files[plugin.name] { return file }
        do throws(ConnectorError) {
            guard plugin.isPath else { return .success(try catalog.find(plugin.name, version: plugin.version)) }
            return .success(try PluginCatalog.candidate(path: plugin.name))
        } catch {
            return .failure(error)
        }
    }

    /// What the plugin of a leaf says of itself; or why it says nothing.
    package func manifest(_ plugin: PluginSpecification) -> Result<Manifest, ConnectorError> {
        candidate(plugin).map(\.manifest)
    }
}
