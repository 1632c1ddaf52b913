// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorServices

/// The configuration that `create` receives, checked against the manifest as the host checks it.
struct ConformanceConfiguration: Sendable {
    /// The configuration as a JSON object.
    let text: [UInt8]
    /// The values of `{{secret:FIELD}}`.
    let secrets: [String: Secret]

    /// Runs a `config` through the host's own checks.
    init(
        _ path: String,
        _ options: PluginConformance.Options,
        manifest: Manifest
    ) throws(ConfigurationErrors) {
        let connector: JSONValue = [
            "name": "plugin", "plugin": .string("./\(manifest.id)"), "config": .object(options.config),
        ]
        let document: JSONValue = ["version": 1, "connectors": [connector]]
        let environment = Configuration.Environment([:])
        let configuration = try Configuration(parsing: document.description, environment: environment)
        let resolved = try configuration.resolved(environment: environment) { _ in .success(manifest) }
        let plan = try? resolved.leaves["plugin"]?.get()
        text = JSONValue.object(plan?.config ?? JSONObject()).utf8()
        secrets = plan?.secrets ?? [:]
    }

    /// Texts that no host passes on, and that must not crash a plugin.
    static let wrong = ["", "{", "[]", "null", "{\"\u{0}\":", "{\"a\":1,}", "\"text\"", "\u{FEFF}{}"]
}
