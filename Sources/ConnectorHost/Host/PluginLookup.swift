// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
package import ConnectorLoading
package import ConnectorManifest
internal import Synchronization

/// Finds the plugins that a configuration names: by id in the directories, or by path.
///
/// The directories of the file and of `CONNECTOR_PLUGIN_PATH` form one catalog, where the higher of two versions wins.
/// The directories of the options, such as the executable's, are searched only for ids not found there, so a plugin in
/// `Plugins/` takes precedence over a bundled one.
package struct PluginLookup: Sendable {
    /// The plugins in the directories of the file and the environment.
    private let named: PluginCatalog
    /// The bundled plugins; searched on first use.
    private let bundled: BundledPlugins
    /// The plugins that connectors name by their paths.
    private let paths: PathPlugins
    /// Plugins given as files, by id.
    private var files: [String: Result<PluginCandidate, ConnectorError>] = [:]
    /// The entries of those files.
    private var filed: [PluginEntry] = []
    /// Which of the plugins found may be loaded.
    package private(set) var admission = PluginAdmission()
    /// The substitute to find in the place of one image; nil for none.
    private var substitute: PluginSubstitute?

    /// Searches the directories of the file and of `CONNECTOR_PLUGIN_PATH`, then those of the options.
    ///
    /// - Parameter earlier: An earlier lookup. An image that has not changed since then is not read again.
    package init(configuration: Configuration, options: ConnectorHost.Options, after earlier: PluginLookup? = nil) {
        self.init(
            directories: configuration.pluginPaths,
            requiresTrust: configuration.requiresTrust,
            options: options,
            after: earlier
        )
        admission = PluginAdmission(
            lock: configuration.lock,
            keys: configuration.trustedKeys,
            requiresSignature: configuration.requiresTrust
        )
    }

    /// Searches the given directories and those of `CONNECTOR_PLUGIN_PATH`, then those of the options.
    package init(
        directories: [String],
        requiresTrust: Bool = false,
        options: ConnectorHost.Options,
        after earlier: PluginLookup? = nil
    ) {
        let all = directories + options.environmentDirectories
        named = PluginCatalog(directories: all, requiresTrust: requiresTrust, after: earlier?.named)
        bundled = BundledPlugins(
            directories: options.pluginDirectories,
            requiresTrust: requiresTrust,
            after: earlier?.bundled
        )
        paths = PathPlugins(after: earlier?.paths)
    }

    /// Uses the given images or sidecars instead of searching; connectors name them by id.
    ///
    /// - Parameter entry: Examines a file.
    package init(files: [String], entry: (_ path: String) -> PluginEntry = { PluginCatalog.entry(path: $0) }) {
        named = PluginCatalog(directories: [])
        bundled = BundledPlugins(directories: [], requiresTrust: false)
        paths = PathPlugins()
        for file in files {
            let entry = entry(file)
            guard let id = entry.id else { continue }
            filed.append(entry)
            let missing = ConnectorError(.unknownPlugin, "\(file) is not usable")
            self.files[id] = entry.candidate.map { .success($0) } ?? .failure(entry.error ?? missing)
        }
    }

    /// The same plugins, except that a substitute replaces one image; nil replaces none.
    package func substituting(_ substitute: PluginSubstitute?) -> PluginLookup {
        var lookup = self
        lookup.substitute = substitute
        return lookup
    }

    /// The plugin to load or to link for a leaf, or why there is none.
    package func candidate(_ plugin: PluginSpecification) -> Result<PluginCandidate, ConnectorError> {
        let found = present(plugin)
        guard let substitute, case .success(let candidate) = found, substitute.replaces(candidate) else { return found }
        do throws(ConnectorError) {
            if let version = plugin.version { try substitute.require(version) }
            if !plugin.isPath, plugin.version == nil { try substitute.requireHighest(of: rivals(of: plugin.name)) }
            return .success(try admitted(substitute.candidate))
        } catch {
            return .failure(error)
        }
    }

    private func present(_ plugin: PluginSpecification) -> Result<PluginCandidate, ConnectorError> {
        do throws(ConnectorError) {
            if let linked = plugin.linked { return .success(try PluginCandidate(linked)) }
            if let file = files[plugin.name] { return file }
            guard !plugin.isPath else {
                let candidate = try paths.candidate(plugin.name)
                if named.requiresTrust, let refusal = PluginTrust.refusal(candidate, within: [], named.trust) {
                    throw refusal
                }
                return .success(try admitted(candidate))
            }
            if plugin.version == nil, let version = lockedVersion(of: plugin.name),
                let candidate = try? find(plugin.name, version: version)
            {
                return .success(try admitted(candidate))
            }
            return .success(try admitted(find(plugin.name, version: plugin.version)))
        } catch {
            return .failure(error)
        }
    }

    /// Searches all directories.
    private func find(_ id: String, version: SemanticVersion?) throws(ConnectorError) -> PluginCandidate {
        do throws(ConnectorError) {
            return try named.find(id, version: version)
        } catch {
            // A manifest in a source folder without an image counts as absent.
            let isAbsent = error.code == .unknownPlugin || error.code == .notFound
            guard isAbsent, !bundled.directories.isEmpty else { throw error }
            if let candidate = try? bundled.catalog.find(id, version: version) { return candidate }
            return try bundled.everything(after: named).find(id, version: version)
        }
    }

    /// The entries of which a connector that names no version gets the highest one: the bundled plugins only if there are no others.
    private func rivals(of id: String) -> [PluginEntry] {
        (try? named.find(id)) == nil ? bundled.catalog.entries : named.entries
    }

    /// The highest locked version of a plugin, which a connector that names no version gets even if there is a higher
    /// one.
    private func lockedVersion(of id: String) -> SemanticVersion? {
        admission.lock?.entries(of: id).map(\.version).max()
    }

    /// Refuses a plugin that must be signed and is not, before the host tries to open it.
    private func admitted(_ candidate: PluginCandidate) throws(ConnectorError) -> PluginCandidate {
        if let refusal = admission.refusal(candidate) { throw refusal }
        return candidate
    }

    /// Why a host with this configuration would not load a plugin's files as they are now: other users could modify them although
    /// trust is required, or the lock or the keys do not admit them; nil if it would. Blocks while it reads them.
    package func refusal(of candidate: PluginCandidate) -> ConnectorError? {
        let directories = named.directories + bundled.directories
        if named.requiresTrust, let refusal = PluginTrust.refusal(candidate, within: directories, named.trust) {
            return refusal
        }
        return admission.problem(of: candidate)
    }

    /// Every plugin in every directory.
    package var everything: PluginCatalog {
        PluginCatalog(directories: named.directories + bundled.directories, requiresTrust: named.requiresTrust)
    }

    /// The directories of the file and of `CONNECTOR_PLUGIN_PATH` in which no plugin can be found, with the reason.
    package var warnings: [String] { named.warnings }

    /// The warnings about a plugin that loads: that other users could modify it, that none of the keys signed it, and, for a
    /// bundled one, which directories that come before could not be searched.
    package func concerns(_ candidate: PluginCandidate) -> [String] {
        let isBundled = bundled.directories.contains { candidate.path.hasPrefix($0 + "/") }
        let own =
            PluginTrust.concerns(candidate, within: named.directories + bundled.directories, named.trust)
            + [admission.concern(candidate)].compactMap(\.self)
        return own.map(\.withGivenPaths) + (isBundled ? warnings : [])
    }

    /// The manifest of a leaf's plugin, or why there is none.
    package func manifest(_ plugin: PluginSpecification) -> Result<Manifest, ConnectorError> {
        candidate(plugin).map(\.manifest)
    }

    /// The text of a manifest that ``interface(_:)`` finds, and its file; nil if there is none, or only a damaged one.
    package func interfaceText(_ plugin: PluginSpecification) -> (text: [UInt8], file: String)? {
        if case .success(let candidate) = candidate(plugin) {
            if let text = candidate.embeddedText { return (text, candidate.path) }
            return candidate.sidecar.flatMap { file in ManifestReading.text(of: file).map { ($0, file) } }
        }
        return entry(alone: plugin).flatMap { entry in
            entry.sidecar.flatMap { file in ManifestReading.text(of: file).map { ($0, file) } }
        }
    }

    /// The entry of the highest version that has a manifest but no image.
    private func entry(alone plugin: PluginSpecification) -> PluginEntry? {
        let entries =
            plugin.isPath
            ? [PluginCatalog.entry(path: plugin.name)] : filed.filter { $0.id == plugin.name } + everything.entries
        let alone = entries.filter { entry in
            entry.isNotBuilt && (plugin.isPath || entry.id == plugin.name)
                && (plugin.version == nil || entry.manifest?.version == plugin.version)
        }
        return alone.max { first, second in
            guard let first = first.manifest?.version, let second = second.manifest?.version else { return false }
            return first < second
        }
    }

    /// The manifest of a leaf's plugin as ``manifest(_:)`` finds it, even if its image does not exist yet.
    package func interface(_ plugin: PluginSpecification) -> Result<Manifest, ConnectorError> {
        let found = manifest(plugin)
        guard case .failure(let error) = found, error.code == .notFound else { return found }
        return entry(alone: plugin)?.manifest.map { .success($0) } ?? found
    }
}

/// The plugins that connectors name by their paths, each examined once.
private final class PathPlugins: Sendable {
    /// What was found before.
    private let earlier: [String: PluginEntry]
    private let found = Mutex<[String: PluginEntry]>([:])

    /// Creates a lookup that has examined nothing yet.
    ///
    /// - Parameter earlier: An earlier lookup. An image that has not changed since then is not read again.
    init(after earlier: PathPlugins? = nil) {
        self.earlier = earlier?.found.withLock(\.self) ?? [:]
    }

    /// The plugin of an image or of a sidecar.
    func candidate(_ path: String) throws(ConnectorError) -> PluginCandidate {
        let entry = found.withLock { found in
            let entry = found[path] ?? PluginCatalog.entry(path: path, after: earlier[path])
            found[path] = entry
            return entry
        }
        return try entry.usable(at: path)
    }
}

/// The plugins beside the executable; most configurations never need them.
private final class BundledPlugins: Sendable {
    /// The directories to search.
    let directories: [String]
    private let requiresTrust: Bool
    /// What was found before.
    private let earlier: PluginCatalog?
    private let found = Mutex<PluginCatalog?>(nil)
    /// Everything in these directories and those searched before them; searched once, for error messages.
    private let all = Mutex<PluginCatalog?>(nil)

    /// Creates a lookup that has not searched yet.
    ///
    /// - Parameter earlier: An earlier lookup. An image that has not changed since then is not read again.
    init(directories: [String], requiresTrust: Bool, after earlier: BundledPlugins? = nil) {
        self.directories = directories
        self.requiresTrust = requiresTrust
        self.earlier = earlier?.found.withLock(\.self)
    }

    /// Everything in the directories of a catalog, then in these.
    func everything(after named: PluginCatalog) -> PluginCatalog {
        all.withLock { all in
            let catalog =
                all ?? PluginCatalog(directories: named.directories + directories, requiresTrust: requiresTrust)
            all = catalog
            return catalog
        }
    }

    /// Everything in the directories.
    var catalog: PluginCatalog {
        found.withLock { found in
            let catalog =
                found ?? PluginCatalog(directories: directories, requiresTrust: requiresTrust, after: earlier)
            found = catalog
            return catalog
        }
    }
}
