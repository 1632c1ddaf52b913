// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorServices

/// The configuration that `create` receives, checked against the manifest like by the host.
struct ConformanceConfiguration: Sendable {
    /// The configuration as a JSON object.
    let text: [UInt8]
    /// The values of `{{secret:FIELD}}`.
    let secrets: [String: Secret]

    /// Whether the suite generated values for required fields that were not given.
    let isMade: Bool

    /// The configurations to try, in order; they differ in the values that the suite generates.
    static func all(
        _ options: PluginConformance.Options,
        manifest: Manifest
    ) throws(ConfigurationErrors) -> [ConformanceConfiguration] {
        var all: [ConformanceConfiguration] = []
        for (string, url) in examples {
            all.append(try ConformanceConfiguration(options, manifest: manifest, string: string, url: url))
            guard all.last?.isMade == true else { break }
        }
        return all
    }

    /// Example strings, with and without an e-mail address; and URLs of this machine, where no server answers, with and
    /// without a key and a project.
    private static let examples = ["example", "example/1.0 (example@example.com)"].flatMap { string in
        ["http://127.0.0.1:1/", "http://key@127.0.0.1:1/1"].map { (string, $0) }
    }

    /// Completes a `config` with the manifest's fields, and runs the host's checks on it.
    private init(
        _ options: PluginConformance.Options,
        manifest: Manifest,
        string: String,
        url: String
    ) throws(ConfigurationErrors) {
        var config = options.config
        var variables: [String: String] = [:]
        for field in manifest.configuration
        where field.isRequired && field.defaultValue == nil && config[field.name] == nil {
            let example = Self.example(of: field, string: string, url: url)
            if field.isSecret {
                let name = "CONFORMANCE_\(variables.count)"
                variables[name] = example.string ?? example.description
                config[field.name] = ["secret": .string("env:\(name)")]
            } else {
                config[field.name] = example
            }
        }
        isMade = config != options.config
        let connector: JSONValue = ["name": "plugin", "plugin": .string("./\(manifest.id)"), "config": .object(config)]
        let document: JSONValue = ["version": 1, "connectors": [connector]]
        let environment = Configuration.Environment(variables)
        let configuration = try Configuration(parsing: document.description, environment: environment)
        // The bench stands in for the gates that the plugin uses.
        var alone = manifest
        alone.uses = []
        let resolved = try configuration.resolved(environment: environment) { [alone] _ in .success(alone) }
        let plan = try? resolved.leaves["plugin"]?.get()
        text = JSONValue.object(plan?.config ?? JSONObject()).utf8()
        secrets = plan?.secrets ?? [:]
    }

    /// A value that a field accepts according to its manifest.
    private static func example(of field: ConfigurationField, string: String, url: String) -> JSONValue {
        if let value = field.allowedValues.first { return value }
        let number = max(field.minimum ?? 1, min(1, field.maximum ?? 1))
        return switch field.type {
        case .string: .string(string)
        case .integer: Int64(exactly: number.rounded(.up)).map(JSONValue.integer) ?? 1
        case .number: .number(number)
        case .boolean: true
        case .url: .string(url)
        case .duration: "1s"
        // Where there is nothing, and nothing can be made.
        case .path: "/dev/null/example"
        case .json: [:]
        }
    }

    /// Texts that no host passes to `create`, but that must not crash a plugin.
    static let wrong = ["", "{", "[]", "null", "{\"\u{0}\":", "{\"a\":1,}", "\"text\"", "\u{FEFF}{}"]
}
