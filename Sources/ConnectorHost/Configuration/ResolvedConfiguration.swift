// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorServices

/// A configuration whose every value is known and checked against the plugins: what the host opens.
public struct ResolvedConfiguration: Sendable {
    /// What the file says.
    public let configuration: Configuration
    /// For the path of each enabled leaf what to open, or why its plugin cannot be used.
    package internal(set) var leaves: [String: Result<LeafPlan, ConnectorError>]
    /// Knows every secret, to keep them out of what people see.
    package let redactor: SharedRedactor
    /// Reads everything that a leaf takes again, for secrets may have been exchanged; nil if something is wrong with that.
    package internal(set) var renew: @Sendable (_ path: String) -> LeafPlan?
}

/// What opening one leaf takes.
package struct LeafPlan: Sendable {
    /// The plugin that the leaf asks for.
    package let specification: PluginSpecification
    /// What that plugin says of itself.
    package let manifest: Manifest
    /// Every field that has a value, in the manifest's order, defaults among them; `{{secret:FIELD}}` for secret ones.
    package internal(set) var config: JSONObject
    /// The values of the secret fields, by field.
    package let secrets: [String: Secret]
    /// Where the plugin may connect to.
    package internal(set) var egress: [HostRule]

    /// What stands in a plugin's configuration and requests for the value of a secret field.
    package static func placeholder(for field: String) -> String { "{{secret:\(field)}}" }
}

extension Configuration {
    /// Reads a file and checks it against the plugins, all in one pass.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - environment: What `${NAME}` and `env:NAME` mean.
    ///   - manifests: Gives, for the configuration as read, what finds the manifest of a plugin. A failure of code
    ///     `unknown-plugin` is a fault of the file; any other is kept for the gate, which fails with it.
    /// - Throws: Everything that is wrong.
    package static func load(
        file: String,
        environment: Environment = .process,
        manifests: (Configuration) -> (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (configuration, problems) = examine(file: file, environment: environment)
        guard let configuration else { throw ConfigurationErrors(problems) }
        let (resolved, more) = configuration.examine(
            environment: environment,
            manifest: manifests(configuration)
        )
        guard problems.isEmpty, more.isEmpty else { throw ConfigurationErrors(problems + more) }
        return resolved
    }

    /// Puts in variables and secrets, and checks every enabled leaf against its plugin.
    ///
    /// - Throws: Everything that is wrong.
    package func resolved(
        environment: Environment = .process,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (resolved, problems) = examine(environment: environment, manifest: manifest)
        guard problems.isEmpty else { throw ConfigurationErrors(problems) }
        return resolved
    }

    private func examine(
        environment: Environment,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) -> (resolved: ResolvedConfiguration, problems: [ConnectorError]) {
        var resolver = ConfigurationResolver(self, environment: environment)
        var leaves: [String: Result<LeafPlan, ConnectorError>] = [:]
        for (connector, leaf) in enabledLeaves {
            leaves[connector.path] = resolver.plan(for: connector, leaf, manifest: manifest(leaf.plugin))
        }
        let resolved = ResolvedConfiguration(
            configuration: self,
            leaves: leaves,
            redactor: SharedRedactor(resolver.secrets),
            renew: { [leaves] path in
                guard let manifest = try? leaves[path]?.get().manifest else { return nil }
                return renewed(path, manifest, environment)
            }
        )
        return (resolved, resolver.json.problems)
    }

    /// What opening a leaf takes now; nil if something is wrong with it.
    private func renewed(_ path: String, _ manifest: Manifest, _ environment: Environment) -> LeafPlan? {
        guard let (connector, leaf) = enabledLeaves.first(where: { $0.connector.path == path }) else { return nil }
        var resolver = ConfigurationResolver(self, environment: environment)
        return try? resolver.plan(for: connector, leaf, manifest: .success(manifest))?.get()
    }
}
