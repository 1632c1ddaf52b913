// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
internal import ConnectorServices

/// Fills in the values of each leaf's configuration, and checks them against the plugin's manifest.
struct ConfigurationResolver {
    /// Collects faults.
    var json: JSONReader
    /// Every secret read so far.
    private(set) var secrets: [Secret] = []
    private let configuration: Configuration
    /// The directory of the file that contains the leaf.
    private var base = BaseDirectory(".")
    private var variables: VariableExpansion
    /// The secrets by what refers to them: many references may name one file.
    private var read: [SecretReference: Result<Secret, ConnectorError>] = [:]

    /// The value of a member of `config`.
    private struct Evaluated {
        var value: JSONValue
        /// Whether the value, or a part of it, comes from `{"secret": …}`.
        var isSecret = false
        /// Whether the text was a single variable, whose value may be a number or a Boolean.
        var isOneVariable = false
    }

    /// Creates a resolver that has read nothing yet.
    init(_ configuration: Configuration, environment: Configuration.Environment) {
        json = JSONReader(configuration.texts)
        self.configuration = configuration
        variables = VariableExpansion(environment)
    }

    /// What to open for a leaf, or why its plugin cannot be used; nil, with an error, if the file is at fault.
    mutating func plan(
        for connector: Connector,
        _ leaf: Connector.Leaf,
        manifest: Result<Manifest, ConnectorError>
    ) -> Result<LeafPlan, ConnectorError>? {
        json.connector = connector.path
        defer { json.connector = nil }
        base = configuration.base(ofText: connector.location.text)
        let before = json.problems.count + json.omitted
        let place = connector.location.appending("config")
        var values: [(name: String, evaluated: Evaluated?)] = []
        for member in leaf.config.members {
            values.append((member.name, evaluate(member.value, at: place.appending(member.name))))
        }
        switch manifest {
        case .failure(var error):
            let place = connector.location.appending("plugin")
            guard error.code != .unknownPlugin else {
                json.report(error, at: place)
                return nil
            }
            error.connector = connector.path
            // A fault of the plugin's own manifest has its place there.
            if error.position == nil { error.position = json.position(of: place) }
            return json.problems.count + json.omitted == before ? .failure(error) : nil
        case .success(let manifest):
            let plan = plan(connector, leaf, manifest, values, at: place)
            return json.problems.count + json.omitted == before ? .success(plan) : nil
        }
    }

    private mutating func plan(
        _ connector: Connector,
        _ leaf: Connector.Leaf,
        _ manifest: Manifest,
        _ values: [(name: String, evaluated: Evaluated?)],
        at place: JSONPath
    ) -> LeafPlan {
        let known = manifest.configuration.map(\.name)
        let names = Set(known)
        for (name, _) in values where !names.contains(name) && json.hasRoom() {
            json.report(
                .unknownKey,
                "the plugin \(manifest.id) takes no \"\(name.excerpt)\"",
                fix: known.isEmpty ? "remove it" : suggestion(for: name, among: known),
                at: place.appending(name),
                .name
            )
        }
        var config: [JSONObject.Member] = []
        var hidden: [String: Secret] = [:]
        var whole: [String: JSONValue] = [:]
        let given = Dictionary(values.map { ($0.name, $0.evaluated) }) { first, _ in first }
        let strangers = values.lazy.map(\.name).filter { !names.contains($0) }.prefix(100)
        for field in manifest.configuration {
            guard let value = value(of: field, manifest, connector, given, Array(strangers), at: place) else {
                continue
            }
            whole[field.name] = value
            if field.isSecret, let text = value.string {
                let secret = Secret(text)
                hidden[field.name] = secret
                secrets.append(secret)
                config.append(.init(name: field.name, value: .string(LeafPlan.placeholder(for: field.name))))
            } else {
                config.append(.init(name: field.name, value: value))
            }
        }
        return LeafPlan(
            specification: leaf.plugin,
            manifest: manifest,
            config: JSONObject(unique: config),
            secrets: hidden,
            egress: connector.allowedHosts ?? manifest.egressRules(for: whole),
            simulator: connector.simulator
        )
    }

    /// The checked value of a field, or its default; nil if it has neither, or is wrong.
    private mutating func value(
        of field: ConfigurationField,
        _ manifest: Manifest,
        _ connector: Connector,
        _ values: [String: Evaluated?],
        _ strangers: [String],
        at place: JSONPath
    ) -> JSONValue? {
        guard let given = values[field.name] else {
            if field.isRequired, !strangers.contains(where: { isMisspelling($0, of: field.name) }), json.hasRoom() {
                reportMissing(field, manifest, connector)
            }
            return field.defaultValue.map { resolved($0, of: field) }
        }
        guard var evaluated = given else { return nil }
        if evaluated.isOneVariable { evaluated.value = field.converted(evaluated.value) }
        let here = place.appending(field.name)
        if evaluated.isSecret, !field.isSecret {
            json.report(
                .invalidValue,
                "the plugin \(manifest.id) reads \"\(field.name)\" in clear: its manifest does not mark the field as secret",
                fix: "write \"${NAME}\" if the value is no secret, or let the manifest say \"secret\": true",
                at: here
            )
            return nil
        }
        if let objection = field.objection(to: evaluated.value) {
            json.report(
                field.isOfOtherType(evaluated.value) ? .wrongType : .invalidValue,
                "\(field.name) \(objection)",
                fix: evaluated.isOneVariable ? "correct the environment variable that holds the value" : nil,
                at: here
            )
            return nil
        }
        if field.isRequired, evaluated.value.string?.isEmpty ?? false {
            json.report(.missingValue, "\(field.name) is required, and empty", fix: field.documentationFix, at: here)
            return nil
        }
        return resolved(evaluated.value, of: field)
    }

    /// A path as it is from the process's working directory; any other value as it is.
    private func resolved(_ value: JSONValue, of field: ConfigurationField) -> JSONValue {
        guard field.type == .path, let path = value.string else { return value }
        return .string(base.resolve(path))
    }

    private mutating func reportMissing(_ field: ConfigurationField, _ manifest: Manifest, _ connector: Connector) {
        // Point to the object that lacks the field, or else to the plugin that requires it.
        let hasConfig = json.has(connector.location.appending("config"))
        json.report(
            .missingValue,
            "the plugin \(manifest.id) requires \"\(field.name)\" in \"config\"",
            fix: field.documentationFix,
            at: connector.location.appending(hasConfig ? "config" : "plugin")
        )
    }

    // MARK: Values

    /// The value with variables and secrets filled in; nil, with an error, if that fails.
    private mutating func evaluate(_ value: JSONValue, at path: JSONPath) -> Evaluated? {
        switch value {
        case .null, .bool, .integer, .number: return Evaluated(value: value)
        case .string(let text):
            return variables.filled(text, at: path, reporting: &json).map {
                Evaluated(value: .string($0.text), isOneVariable: $0.isOneVariable)
            }
        case .array(let elements):
            let results = elements.enumerated().map { evaluate($1, at: path.appending($0)) }
            let found = results.compactMap(\.self)
            guard found.count == results.count else { return nil }
            return Evaluated(value: .array(found.map(\.value)), isSecret: found.contains(where: \.isSecret))
        case .object(let object):
            if object.members.count == 1, let reference = object["secret"] {
                return secret(reference, at: path.appending("secret"))
            }
            var members: [JSONObject.Member] = []
            var isSecret = false
            for member in object.members {
                guard let result = evaluate(member.value, at: path.appending(member.name)) else { continue }
                isSecret = isSecret || result.isSecret
                members.append(.init(name: member.name, value: result.value))
            }
            guard members.count == object.members.count else { return nil }
            return Evaluated(value: .object(JSONObject(unique: members)), isSecret: isSecret)
        }
    }

    /// The value that `{"secret": …}` refers to.
    private mutating func secret(_ value: JSONValue, at path: JSONPath) -> Evaluated? {
        guard let text = value.string else {
            json.report(.wrongType, "a secret must be a string such as \"env:NAME\", not \(value.kind)", at: path)
            return nil
        }
        guard let filled = variables.filled(text, at: path, reporting: &json) else { return nil }
        guard let reference = SecretReference(filled.text, base: base) else {
            // Do not show the text: it may be the secret itself.
            json.report(
                .invalidValue,
                "a secret must be \"env:NAME\" or \"file:PATH\"",
                at: path
            )
            return nil
        }
        // Beyond the limit of faults, no further file is opened.
        guard read[reference] != nil || json.hasRoom() else { return nil }
        switch read[reference] ?? readSecret(reference) {
        case .success(let secret):
            return Evaluated(value: .string(secret.reveal()), isSecret: true, isOneVariable: true)
        case .failure(let error):
            json.report(error, at: path)
            return nil
        }
    }

    private mutating func readSecret(_ reference: SecretReference) -> Result<Secret, ConnectorError> {
        let result = Result { () throws(ConnectorError) in
            try reference.secret(environment: variables.environment)
        }
        read[reference] = result
        if case .success(let secret) = result { secrets.append(secret) }
        return result
    }
}

extension ConfigurationField {
    /// A variable's value, read as the declared type where possible.
    fileprivate func converted(_ value: JSONValue) -> JSONValue {
        guard let text = value.string, let parsed = try? JSONValue(parsing: text) else { return value }
        return switch type {
        case .integer where parsed.integer != nil: parsed
        case .number where parsed.number != nil: parsed
        case .boolean where parsed.bool != nil: parsed
        default: value
        }
    }

    /// Whether a value has another JSON type than the field requires.
    fileprivate func isOfOtherType(_ value: JSONValue) -> Bool {
        switch type {
        case .url, .duration, .path: value.string == nil
        default: typeObjection(to: value) != nil
        }
    }

    /// The field's documentation, as a remedy.
    fileprivate var documentationFix: String? {
        documentation.isEmpty ? nil : "set \"\(name)\": \(documentation)"
    }
}

extension JSONReader {
    /// Whether a path leads to a value.
    fileprivate mutating func has(_ path: JSONPath) -> Bool {
        position(of: path) != position(of: path.parent)
    }
}
