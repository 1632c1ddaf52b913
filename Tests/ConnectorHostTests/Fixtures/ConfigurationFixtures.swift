// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest

/// A file with every form of connector that docs/configuration.md describes.
let exampleText = """
    {
      "$schema": "connectors.schema.json",
      "version": 1,
      "plugins": ["Plugins", "${EXTRA:-/opt/plugins}"],
      "connectors": [
        { "name": "analytics", "policy": "all", "connectors": [
          { "name": "segment", "plugin": "segment", "config": { "writeKey": "${SEGMENT_WRITE_KEY}" } },
          { "name": "posthog", "plugin": "posthog", "version": "1.2.3", "required": false,
            "config": { "endpoint": "https://eu.posthog.com", "apiKey": { "secret": "env:POSTHOG_KEY" } } } ] },
        { "name": "crash", "plugin": "./lib/libsentry.so", "config": { "endpoint": "https://KEY@sentry.io/1" },
          "timeout": "5s", "probe": "off" },
        { "name": "database", "plugin": "segment", "config": { "writeKey": "abcdef" },
          "retry": { "attempts": 5, "initial": "100ms", "max": "2s" }, "allow": { "hosts": ["*.example.com:8443"] } },
        { "name": "geocoder", "policy": "first", "after": ["database", "analytics/segment"], "connectors": [
          { "name": "one", "plugin": "segment", "config": { "writeKey": "abcdef" } },
          { "name": "two", "plugin": "segment", "config": { "writeKey": "abcdef" }, "after": ["one", "crash"] } ] }
      ]
    }
    """

/// Manifests of plugins that no test has to build.
let manifests: [String: String] = [
    "segment": """
    { "manifest": 1, "id": "segment", "version": "1.0.0", "abi": [1, 1], "entry": "segment_plugin",
      "egress": ["{endpoint}", "cdn.segment.com"],
      "configuration": {
        "endpoint": { "type": "url", "default": "https://api.segment.io/v1", "documentation": "Where events go." },
        "writeKey": { "type": "string", "required": true, "secret": true, "documentation": "The source's key." },
        "batch": { "type": "integer", "default": 20, "minimum": 1, "maximum": 100 },
        "ratio": { "type": "number", "minimum": 0, "maximum": 1 },
        "gzip": { "type": "boolean" },
        "mode": { "values": ["fast", "safe"] },
        "flush": { "type": "duration" },
        "traits": { "type": "json" },
        "host": { "type": "string" },
        "cache": { "type": "path" } } }
    """,
    "posthog": """
    { "manifest": 1, "id": "posthog", "version": "1.2.3", "abi": [1, 1], "entry": "posthog_plugin",
      "egress": ["{endpoint}"],
      "configuration": {
        "endpoint": { "type": "url", "required": true },
        "apiKey": { "type": "string", "required": true, "secret": true } } }
    """,
    "sentry": """
    { "manifest": 1, "id": "sentry", "version": "1.0.0", "abi": [1, 1], "entry": "sentry_plugin",
      "egress": ["{endpoint}"],
      "configuration": { "endpoint": { "type": "url", "required": true } } }
    """,
]

/// Finds the manifests above, and fails as a catalog of plugins does.
func manifest(of plugin: PluginSpecification) -> Result<Manifest, ConnectorError> {
    let id = plugin.name.contains("sentry") ? "sentry" : plugin.name
    if id == "broken" { return .failure(ConnectorError(.truncated, "the file ends early")) }
    guard let text = manifests[id] else {
        return .failure(
            ConnectorError(
                .unknownPlugin,
                "there is no plugin \"\(id)\"",
                fix: suggestion(for: id, among: manifests.keys.sorted())
            )
        )
    }
    return Result { () throws(ConnectorError) in try Manifest(parsing: Array(text.utf8)) }
}

/// One leaf of the plugin `segment` with a `config`, resolved.
func resolve(
    config: String,
    other: String = "",
    plugin: String = "segment",
    directory: String = ".",
    environment: [String: String] = [:]
) throws(ConfigurationErrors) -> ResolvedLeaf {
    let text = """
        {"version": 1, "connectors": [{"name": "leaf", "plugin": "\(plugin)", "config": \(config)\(other)}]}
        """
    let environment = Configuration.Environment(environment)
    let resolved = try Configuration(parsing: text, directory: directory, environment: environment)
        .resolved(environment: environment, manifest: manifest(of:))
    guard case .success(let plan) = resolved.leaves["leaf"] else { throw ConfigurationErrors([]) }
    return plan
}

/// What is wrong with a text, in one line each, with line and column.
func faults(
    _ text: String,
    environment: [String: String] = [:]
) -> [String] {
    let environment = Configuration.Environment(environment)
    let (configuration, problems, _) = Configuration.examine(
        Array(text.utf8),
        file: "c.json",
        base: BaseDirectory("."),
        environment: environment
    )
    var all = problems
    do throws(ConfigurationErrors) {
        _ = try configuration?.resolved(environment: environment, manifest: manifest(of:))
    } catch {
        all += error.errors
    }
    return ConfigurationErrors(all).errors.map(\.description)
}

/// What is wrong with the connectors of a file.
func faults(connectors: String, environment: [String: String] = [:]) -> [String] {
    faults("{\"version\": 1, \"connectors\": [\(connectors)]}", environment: environment)
}
