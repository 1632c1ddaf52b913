// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest

/// The files that a configuration is made from, whether they exist or not.
package struct ConfigurationFiles: Sendable, Hashable {
    /// The main file, those that it includes, and the lock.
    package var texts: Set<String> = []
    /// The files of secrets.
    package var secrets: Set<String> = []
    /// The directories of plugins.
    package var pluginDirectories: Set<String> = []
    /// The plugins that connectors name by path.
    package var plugins: Set<String> = []

    /// Names no files.
    package init() {}

    /// Names a main file and the files that it names now, as far as it can be read, without looking up any plugin.
    package init(of file: String, environment: Configuration.Environment) {
        texts = [file, PluginLock.file(of: file)]
        guard let configuration = Configuration.examine(file: file, environment: environment).configuration else {
            return
        }
        add(ConfigurationFiles(configuration, environment: environment))
    }

    /// Names the files of a configuration.
    package init(_ configuration: Configuration, environment: Configuration.Environment) {
        texts.formUnion(configuration.texts.map(\.path) + configuration.unreadFiles)
        texts.remove("")
        pluginDirectories = Set(configuration.pluginPaths)
        var resolver = ConfigurationResolver(configuration, environment: environment)
        for (connector, leaf) in configuration.enabledLeaves {
            if leaf.plugin.isPath { plugins.insert(leaf.plugin.name) }
            secrets.formUnion(resolver.secretFiles(of: connector, leaf))
        }
    }

    /// Adds those of another configuration.
    package mutating func add(_ other: ConfigurationFiles) {
        texts.formUnion(other.texts)
        secrets.formUnion(other.secrets)
        pluginDirectories.formUnion(other.pluginDirectories)
        plugins.formUnion(other.plugins)
    }
}

extension ConfigurationResolver {
    /// The files that may hold secrets of a leaf, in all alternatives.
    fileprivate mutating func secretFiles(of connector: Connector, _ leaf: Connector.Leaf) -> [String] {
        base = base(of: connector)
        return leaf.config.members.flatMap { secretFiles(in: $0.value) }
    }

    private mutating func secretFiles(in value: JSONValue) -> [String] {
        switch value {
        case .null, .bool, .integer, .number, .string: return []
        case .array(let elements): return elements.flatMap { secretFiles(in: $0) }
        case .object(let object):
            guard object.isSecretReference else { return object.members.flatMap { secretFiles(in: $0.value) } }
            let sources = sources(in: object, at: JSONPath()) ?? []
            return sources.compactMap { $0.source.reference.file(environment: variables.environment) }
        }
    }
}
