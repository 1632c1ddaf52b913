// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorConfiguration
internal import ConnectorManifest

/// Where a host's configurations come from: reads files, finds the plugins that they name, and checks them against these.
///
/// A copy shares the search for plugins: an image that has not changed since the last search is not read again.
package struct ConfigurationSource: Sendable {
    /// A configuration that was checked against its plugins.
    package typealias Checked = (resolved: ResolvedConfiguration, plugins: PluginLookup)

    /// What is simulated; nil for nothing. Simulated leaves need no secrets and no images.
    package let request: SimulationRequest?
    /// Takes the places of vendors and plugins; nil if nothing does.
    package var simulation: (any ConfigurationSimulation)?
    private let environment: Configuration.Environment
    private let needsImages: Bool
    private let find: @Sendable (Configuration) -> PluginLookup
    /// What is wrong with the paths of the options; nil for nothing.
    private var faults: ConfigurationErrors?

    /// Searches the directories of each configuration and of the options.
    ///
    /// - Parameter needsImages: Whether gates may open, which needs the images of plugins; otherwise their manifests are enough.
    package init(
        _ options: ConnectorHost.Options,
        simulating request: SimulationRequest? = nil,
        needsImages: Bool = true
    ) {
        let search = PluginSearch(options.withLastingPaths)
        self.init(environment: options.environment, simulating: request, needsImages: needsImages) { configuration in
            search.plugins(of: configuration)
        }
        do throws(ConfigurationErrors) {
            try options.checkPaths()
        } catch {
            faults = error
        }
    }

    /// Finds plugins with a function, which may block while files are read.
    package init(
        environment: Configuration.Environment,
        simulating request: SimulationRequest? = nil,
        needsImages: Bool = true,
        plugins find: @escaping @Sendable (Configuration) -> PluginLookup
    ) {
        self.environment = environment
        self.request = request
        self.needsImages = needsImages
        self.find = find
    }

    /// Reads a file and checks it against the plugins that it names, in one pass. Blocks while files are read.
    ///
    /// - Throws: Every fault of the file, or of the paths of the options.
    package func read(file: String) throws(ConfigurationErrors) -> Checked {
        if let faults { throw faults }
        var found: PluginLookup?
        let resolved = try Configuration.load(
            file: file,
            environment: environment,
            simulation: request
        ) { configuration in
            let plugins = find(configuration)
            found = plugins
            return manifest(in: plugins)
        }
        return simulated(resolved, found ?? find(resolved.configuration))
    }

    /// Checks a configuration against the plugins that it names. Blocks while files are read.
    ///
    /// - Parameters:
    ///   - earlier: The configuration that runs. Unless something is simulated, what it has of leaves that are still the same
    ///     is reused.
    ///   - substitute: The image to find in the place of another; nil for none.
    /// - Throws: Every fault of the configuration, or of the paths of the options.
    package func resolve(
        _ configuration: Configuration,
        after earlier: ResolvedConfiguration? = nil,
        _ substitute: PluginSubstitute? = nil
    ) throws(ConfigurationErrors) -> Checked {
        if let faults { throw faults }
        let plugins = find(configuration).substituting(substitute)
        let resolved = try configuration.resolved(
            environment: environment,
            simulation: request,
            after: request == nil ? earlier : nil,
            manifest: manifest(in: plugins)
        )
        return simulated(resolved, plugins)
    }

    /// Checks the next configuration of a host, and finds the plugins of its leaves. Blocks while files are read.
    ///
    /// - Parameter configuration: Nil for the file of the configuration that runs, as the file is now.
    /// - Throws: Every fault of the configuration.
    func next(
        _ configuration: Configuration?,
        after running: ResolvedConfiguration,
        _ substitute: PluginSubstitute?
    ) throws(ConfigurationErrors) -> NextConfiguration {
        guard let configuration else {
            return try next(running.configuration.reread(environment: environment), after: running, substitute)
        }
        let (resolved, plugins) = try resolve(configuration, after: running, substitute)
        return NextConfiguration(resolved, plugins: plugins, substitute)
    }

    private func manifest(in plugins: PluginLookup) -> (PluginSpecification) -> Result<Manifest, ConnectorError> {
        let needsImages = needsImages && request == nil
        return { needsImages ? plugins.manifest($0) : plugins.interface($0) }
    }

    private func simulated(_ resolved: ResolvedConfiguration, _ plugins: PluginLookup) -> Checked {
        (simulation?.pointing(resolved, plugins) ?? resolved, plugins)
    }
}

/// What takes the places of vendors and plugins in the configurations of a host.
package protocol ConfigurationSimulation: Sendable {
    /// The same connectors, with vendors or plugins replaced.
    func pointing(_ resolved: ResolvedConfiguration, _ plugins: PluginLookup) -> ResolvedConfiguration
}
