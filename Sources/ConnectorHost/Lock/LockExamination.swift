// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorConfiguration
internal import ConnectorLoading
package import ConnectorManifest

/// The plugins that a configuration names, as they are on this platform, next to what its lock says about them.
package struct LockExamination: Sendable {
    /// The lock as read; without entries if there is none yet.
    package let lock: PluginLock
    /// Whether there is a lock.
    package let isLocked: Bool
    /// The plugins, by id and version, without those that the application links.
    package private(set) var plugins: [Plugin] = []
    /// Why a plugin can be neither locked nor loaded.
    package private(set) var problems: [ConnectorError] = []
    /// The directories in which no plugin can be found, with the reason.
    package let warnings: [String]

    /// One plugin.
    package struct Plugin: Sendable {
        /// The entry that describes its files as they are now.
        package var found: LockedPlugin
        /// The lock's entry for this version, or else for another version of the plugin; nil for a new plugin.
        package var locked: LockedPlugin?
        /// The connectors that name the plugin.
        package var connectors: [String]

        /// Whether the lock describes the files exactly as they are now.
        package var isLocked: Bool { found == locked }

        /// What has changed since the plugin was locked; nil for a new one.
        package var comparison: PluginComparison? { locked.map { PluginComparison($0, found) } }
    }

    /// Reads the files of all plugins; runs none of them, and reads no secret.
    ///
    /// - Parameter prefersLocked: Whether to choose a locked version even if there is a higher one, as a host does.
    package init(_ configuration: Configuration, options: ConnectorHost.Options, prefersLocked: Bool) {
        let file = PluginLock.file(of: configuration.path)
        lock = configuration.lock ?? PluginLock(file: file)
        isLocked = configuration.lock != nil
        var configuration = configuration
        if !prefersLocked { configuration.lock = nil }
        let lookup = PluginLookup(configuration: configuration, options: options)
        warnings = lookup.warnings
        var admission = lookup.admission
        admission.lock = nil
        let enabled = Set(configuration.enabledLeaves.map(\.connector.path))
        var reader = JSONReader(configuration.texts)
        var indices: [PluginSpecification: Int?] = [:]
        for connector in configuration.allConnectors {
            guard case .leaf(let leaf) = connector.kind else { continue }
            if let known = indices[leaf.plugin] {
                if let known { plugins[known].connectors.append(connector.path) }
                continue
            }
            do throws(ConnectorError) {
                indices[leaf.plugin] = try add(lookup.candidate(leaf.plugin).get(), admission, connector.path)
            } catch {
                indices[leaf.plugin] = .some(nil)
                // The plugin of a disabled connector need not exist.
                guard enabled.contains(connector.path) else { continue }
                problems.append(reader.located(error, atPluginOf: connector))
            }
        }
        plugins.sort { ($0.found.id, $0.found.version) < ($1.found.id, $1.found.version) }
    }

    /// Adds a plugin and returns its index; nil for a linked one.
    private mutating func add(
        _ candidate: PluginCandidate,
        _ admission: PluginAdmission,
        _ connector: String
    ) throws(ConnectorError) -> Int? {
        if let problem = admission.problem(of: candidate) { throw problem }
        guard let found = try LockedPlugin(of: candidate) else { return nil }
        if let index = plugins.firstIndex(where: { $0.found == found }) {
            plugins[index].connectors.append(connector)
            return index
        }
        let others = lock.entries(of: found.id)
        let locked = lock.entry(of: found.id, found.version) ?? others.max { $0.version < $1.version }
        plugins.append(Plugin(found: found, locked: locked?.completed(by: found), connectors: [connector]))
        return plugins.count - 1
    }

    /// The lock with entries for the plugins that it does not have yet; existing entries stay as they are.
    package var extended: PluginLock {
        var lock = lock
        for plugin in plugins where plugin.locked == nil { lock.set(plugin.found) }
        return lock
    }

    /// The lock with the entries of these plugins brought up to date, on this platform.
    package func updated(_ ids: [String]) -> PluginLock {
        var lock = lock
        lock.remove { ids.contains($0.id) && $0.platform == LockedPlugin.hostPlatform }
        for plugin in plugins where ids.contains(plugin.found.id) { lock.set(plugin.found) }
        return lock
    }
}
