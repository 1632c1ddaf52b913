// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorLoading
package import ConnectorManifest
internal import Synchronization

/// Finds the plugins that a configuration names: by id in the directories, or by path.
///
/// What the file and `CONNECTOR_PLUGIN_PATH` name is one place: of two versions there the higher one wins. The directories
/// of the options, where the executable is, only count for ids that are not there, so that a plugin which was dropped into
/// `Plugins/` is the one that runs, whatever came with the program.
package struct PluginLookup: Sendable {
    /// What the file and the environment name.
    private let named: PluginCatalog
    /// What came with the program; looked through when it is first needed.
    private let bundled: BundledPlugins
    /// What was given instead of directories, by id.
    private var files: [String: Result<PluginCandidate, ConnectorError>] = [:]

    /// Looks through the directories of the file and of `CONNECTOR_PLUGIN_PATH`, then of the options.
    package init(configuration: Configuration, options: ConnectorHost.Options) {
        self.init(directories: configuration.pluginDirectories, options: options)
    }

    /// Looks through directories and those of `CONNECTOR_PLUGIN_PATH`, then those of the options.
    package init(directories: [String], options: ConnectorHost.Options) {
        let path = options.environment["CONNECTOR_PLUGIN_PATH"] ?? ""
        named = PluginCatalog(directories: directories + path.split(separator: ":").map(String.init))
        bundled = BundledPlugins(directories: options.pluginDirectories)
    }

    /// Takes images, or sidecars, instead of looking for any; connectors name them by id.
    package init(files: [String]) {
        named = PluginCatalog(directories: [])
        bundled = BundledPlugins(directories: [])
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
            guard !plugin.isPath else { return .success(try PluginCatalog.candidate(path: plugin.name)) }
            do throws(ConnectorError) {
                return .success(try named.find(plugin.name, version: plugin.version))
            } catch {
                // A manifest in its source folder, whose image was built elsewhere, is as good as none.
                let isAbsent = error.code == .unknownPlugin || error.code == .notFound
                guard isAbsent, !bundled.directories.isEmpty else { throw error }
                if let candidate = try? bundled.catalog.find(plugin.name, version: plugin.version) {
                    return .success(candidate)
                }
                return .success(try everything.find(plugin.name, version: plugin.version))
            }
        } catch {
            return .failure(error)
        }
    }

    /// All plugins there are, wherever they are looked for.
    package var everything: PluginCatalog {
        PluginCatalog(directories: named.directories + bundled.directories)
    }

    /// What the plugin of a leaf says of itself; or why it says nothing.
    package func manifest(_ plugin: PluginSpecification) -> Result<Manifest, ConnectorError> {
        candidate(plugin).map(\.manifest)
    }
}

/// The plugins beside the executable, which most configurations never ask for.
private final class BundledPlugins: Sendable {
    /// Where they are.
    let directories: [String]
    private let found = Mutex<PluginCatalog?>(nil)

    /// Looks at nothing yet.
    init(directories: [String]) {
        self.directories = directories
    }

    /// Everything in the directories.
    var catalog: PluginCatalog {
        found.withLock { found in
            let catalog = found ?? PluginCatalog(directories: directories)
            found = catalog
            return catalog
        }
    }
}
