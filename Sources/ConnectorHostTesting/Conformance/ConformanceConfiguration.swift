// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorServices

/// The configuration that `create` receives, checked against the manifest as the host checks it.
struct ConformanceConfiguration: Sendable {
    /// The configuration as a JSON object.
    let text: [UInt8]
    /// The values of `{{secret:FIELD}}`.
    let secrets: [String: Secret]
    /// The configuration of the connector, before the host resolved it.
    let config: JSONObject
    /// The variables that its secrets are read from.
    let variables: [String: String]
    /// The leaf as a host would open it; nil if it cannot be pointed at the vendor.
    let leaf: ResolvedLeaf?
    /// Whether the suite generated values for required fields that were not given.
    let isMade: Bool

    /// The configurations to try, in order; they differ in the values that the suite generates.
    ///
    /// - Parameter vendor: What answers in place of the vendor, and what the URLs of the configuration point to.
    static func all(
        _ options: PluginConformance.Options,
        manifest: Manifest,
        vendor: ConformanceVendor = .configured
    ) throws(ConfigurationErrors) -> [ConformanceConfiguration] {
        var all: [ConformanceConfiguration] = []
        for (string, url) in examples {
            all.append(try ConformanceConfiguration(options, manifest: manifest, string: string, url: url, vendor))
            guard all.last?.isMade == true else { break }
        }
        return all
    }

    /// Example strings, with and without an e-mail address, and URLs on this machine where no server answers, with and
    /// without a key and a project.
    private static let examples = ["example", "example/1.0 (example@example.com)"].flatMap { string in
        ["http://127.0.0.1:1/", "http://key@127.0.0.1:1/1"].map { (string, $0) }
    }

    /// Completes a `config` with the manifest's fields, and runs the host's checks on it.
    private init(
        _ options: PluginConformance.Options,
        manifest: Manifest,
        string: String,
        url: String,
        _ vendor: ConformanceVendor
    ) throws(ConfigurationErrors) {
        var config = options.config
        if case .server(_, let accepted, _) = vendor {
            for member in accepted.members where config[member.name] == nil { config[member.name] = member.value }
        }
        let given = config
        var variables: [String: String] = [:]
        for field in manifest.configuration {
            var value = config[field.name]
            if value == nil, field.isRequired, field.defaultValue == nil {
                // A secret must not be a word of other texts: the host would redact it there.
                value = Self.example(of: field, string: field.isSecret ? "\(string)-key" : string, url: url)
            }
            guard let value else { continue }
            if field.isSecret, let text = value.string ?? (value.object == nil ? value.description : nil) {
                let name = "CONFORMANCE_\(variables.count)"
                variables[name] = text
                config[field.name] = ["secret": .string("env:\(name)")]
            } else {
                config[field.name] = value
            }
        }
        isMade = manifest.configuration.contains { given[$0.name] == nil && config[$0.name] != nil }
        let connector: JSONValue = ["name": "plugin", "plugin": .string("./\(manifest.id)"), "config": .object(config)]
        let document: JSONValue = ["version": 1, "connectors": [connector]]
        let environment = Configuration.Environment(variables)
        let configuration = try Configuration(parsing: document.description, environment: environment)
        // Leave out the gates that the plugin uses: the bench stands in for them.
        var alone = manifest
        alone.uses = []
        var resolved = try configuration.resolved(environment: environment) { [alone] _ in .success(alone) }
        let plain = try? resolved.leaves["plugin"]?.get()
        if case .server(let base, _, let time) = vendor {
            resolved = resolved.pointing { _, _ in .server(base, time: time) }
        }
        leaf = try? resolved.leaves["plugin"]?.get()
        self.config = config
        self.variables = variables
        text = JSONValue.object((leaf ?? plain)?.config ?? JSONObject()).utf8()
        secrets = (leaf ?? plain)?.secrets ?? [:]
    }

    /// The secrets by field, for a server that hides them.
    var secretTexts: [String: String] { secrets.mapValues { $0.reveal() } }

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
        // Nothing exists at this path, and nothing can be created there.
        case .path: "/dev/null/example"
        case .json: [:]
        }
    }

    /// Texts that no host passes to `create`, but which must not crash a plugin.
    static let wrong = ["", "{", "[]", "null", "{\"\u{0}\":", "{\"a\":1,}", "\"text\"", "\u{FEFF}{}"]
}

extension ConfigurationErrors {
    /// The errors in words, without their positions in a text that no one wrote.
    var sentences: [String] {
        errors.map { error in
            var error = error
            error.position = nil
            return error.description
        }
    }
}
