// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices

/// Evaluates each leaf's configuration, and validates it against the plugin's manifest.
struct ConfigurationResolver {
    /// Collects errors.
    var json: JSONReader
    /// Every secret read so far.
    var secrets: [Secret] = []
    private let configuration: Configuration
    /// The directory of the file that contains the leaf.
    var base = BaseDirectory(".")
    var variables: VariableExpansion
    /// The texts of secrets read so far: several fields may refer to one file.
    var read: [SecretReference: Result<SecretReading, ConnectorError>] = [:]
    /// The references of the leaf being evaluated.
    var used: Set<SecretReference> = []
    /// The index of the source to read in each list of sources; a shorter list uses its last one.
    var alternative = 0
    /// The number of sources in the longest list of the leaf.
    var alternativeCount = 1
    /// The secrets that the process has read.
    let history: SecretHistory
    /// Whether commands run; if not, their last output is used, if there is one.
    let runsCommands: Bool
    /// The simulation, whose vendors need no real secrets; nil for the vendors themselves.
    private let simulation: SimulationRequest?
    /// Whether missing secrets get a placeholder, because the leaf's vendor is simulated.
    private(set) var hasPlaceholders = false
    /// The member of `config` that is being evaluated.
    private(set) var field = ""
    /// Whether it is a secret field.
    private var isInSecretField = false
    /// The secrets of the leaf that could not be read.
    var unread: [UnreadSecret] = []

    /// The value of a member of `config`.
    struct Evaluated {
        var value: JSONValue
        /// The source of the newest secret in it.
        var origin: SecretOrigin?
        /// Whether any part of the value comes from `{"secret": …}`.
        var isSecret = false
        /// Whether the text was a single variable, whose value may be a number or a Boolean.
        var isOneVariable = false
        /// Whether a placeholder is part of it, because a secret is missing.
        var hasPlaceholder = false

        /// A placeholder for a secret that is missing.
        static let missingSecret = Evaluated(
            value: .string(ResolvedLeaf.missingSecret),
            isSecret: true,
            isOneVariable: true,
            hasPlaceholder: true
        )
    }

    /// Creates a resolver for a configuration.
    ///
    /// - Parameters:
    ///   - simulation: The simulation, in which a placeholder replaces each secret that is missing.
    ///   - history: The secrets that the process has read.
    ///   - runsCommands: Whether commands that print secrets run again.
    init(
        _ configuration: Configuration,
        environment: Configuration.Environment,
        simulation: SimulationRequest? = nil,
        history: SecretHistory = SecretHistory(),
        runsCommands: Bool = true
    ) {
        self.history = history
        self.runsCommands = runsCommands
        json = JSONReader(configuration.texts)
        self.configuration = configuration
        self.simulation = simulation
        variables = VariableExpansion(environment)
    }

    /// The directory that a connector's relative paths are resolved against.
    func base(of connector: Connector) -> BaseDirectory { configuration.base(ofText: connector.location.text) }

    /// A leaf as resolved with one alternative of its secrets, or why its plugin cannot be used; nil, with an error reported, if
    /// the file is invalid.
    mutating func evaluatedLeaf(
        for connector: Connector,
        _ leaf: Connector.Leaf,
        manifest: Result<Manifest, ConnectorError>
    ) -> Result<ResolvedLeaf, ConnectorError>? {
        json.connector = connector.path
        defer { json.connector = nil }
        base = base(of: connector)
        hasPlaceholders =
            simulation.map { simulation in
                simulation.opensNothing || simulation.includes(connector.path) && simulator(of: connector) != .local
            } ?? false
        let secretFields = (try? manifest.get())?.configuration.filter(\.isSecret).map(\.name) ?? []
        let before = json.problems.count + json.omitted
        let location = connector.location.appending("config")
        var values: [(name: String, evaluated: Evaluated?)] = []
        for member in leaf.config.members {
            field = member.name
            isInSecretField = secretFields.contains(field)
            values.append((member.name, evaluate(member.value, at: location.appending(member.name))))
        }
        switch manifest {
        case .failure(let error):
            guard error.code != .unknownPlugin else {
                json.report(error, at: connector.location.appending("plugin"))
                return nil
            }
            let located = json.located(error, atPluginOf: connector)
            return json.problems.count + json.omitted == before ? .failure(located) : nil
        case .success(let manifest):
            let resolved = resolvedLeaf(connector, leaf, manifest, values, at: location)
            return json.problems.count + json.omitted == before ? .success(resolved) : nil
        }
    }

    /// What replaces a leaf's vendor in a simulation.
    private func simulator(of connector: Connector) -> SimulatorReference? {
        simulation?.simulators[connector.path] ?? connector.simulator
    }

    private mutating func resolvedLeaf(
        _ connector: Connector,
        _ leaf: Connector.Leaf,
        _ manifest: Manifest,
        _ values: [(name: String, evaluated: Evaluated?)],
        at location: JSONPath
    ) -> ResolvedLeaf {
        let known = manifest.configuration.map(\.name)
        let names = Set(known)
        for (name, _) in values where !names.contains(name) && json.hasRoom() {
            json.report(
                .unknownKey,
                "the plugin \(manifest.id) has no configuration field \"\(name.excerpt)\"",
                fix: known.isEmpty ? "remove it" : suggestion(for: name, among: known),
                at: location.appending(name),
                .name
            )
        }
        if connector.isolation.standby, manifest.isExclusive {
            let standby = connector.location.appending("standby")
            let isWritten = json.has(standby)
            json.report(
                .invalidValue,
                "the plugin \(manifest.id) is exclusive: a second instance cannot be open beside the first, so it has no standby",
                fix: "write \"standby\": false",
                at: isWritten ? standby : connector.location.appending("plugin")
            )
        }
        var config: [JSONObject.Member] = []
        var hidden: [String: Secret] = [:]
        var origins: [String: SecretOrigin] = [:]
        var whole: [String: JSONValue] = [:]
        var placeholders: [String] = []
        var given = Dictionary(values.map { ($0.name, $0.evaluated) }) { first, _ in first }
        let unknownNames = values.lazy.map(\.name).filter { !names.contains($0) }.prefix(100)
        for field in manifest.configuration where hasPlaceholders && field.isSecret && field.isRequired {
            guard given[field.name] == nil, !unknownNames.contains(where: { isMisspelling($0, of: field.name) }) else {
                continue
            }
            given[field.name] = .some(.missingSecret)
        }
        for field in manifest.configuration {
            guard let value = value(of: field, manifest, connector, given, Array(unknownNames), at: location) else {
                continue
            }
            whole[field.name] = value
            if field.isSecret, let text = value.string {
                let secret = Secret(text)
                hidden[field.name] = secret
                origins[field.name] = given[field.name]??.origin
                if given[field.name]??.hasPlaceholder == true {
                    placeholders.append(field.name)
                } else {
                    secrets.append(secret)
                }
                config.append(.init(name: field.name, value: .string(ResolvedLeaf.placeholder(for: field.name))))
            } else {
                config.append(.init(name: field.name, value: value))
            }
        }
        return ResolvedLeaf(
            ResolvedLeaf.Members(
                specification: leaf.plugin,
                manifest: manifest,
                config: JSONObject(unique: config),
                secrets: hidden,
                origins: origins,
                hasAlternatives: alternativeCount > 1,
                readsFiles: used.contains(where: \.isFile),
                egress: connector.allowedHosts ?? manifest.egressRules(for: whole),
                simulator: simulator(of: connector),
                placeholders: placeholders,
                warnings: Self.warnings(about: leaf.config, manifest),
                source: isMadeOfText(connector, leaf, manifest, hidden) ? connector : nil
            )
        )
    }

    /// The warnings about secret fields with `$NAME`, which is a variable for a shell and a plain text here. They do not show the text,
    /// which may be a secret.
    private static func warnings(about config: JSONObject, _ manifest: Manifest) -> [String] {
        manifest.configuration.filter { field in
            guard field.isSecret, let text = config[field.name]?.string, text.hasPrefix("$") else { return false }
            return text.dropFirst().isCIdentifier
        }.map { "\"\($0.name)\" begins with \"$\", and is taken as it is written: a variable is written ${NAME}" }
    }

    /// Whether a resolved leaf is made of nothing but its text and a manifest: of no variable, secret or other connector.
    private func isMadeOfText(
        _ connector: Connector,
        _ leaf: Connector.Leaf,
        _ manifest: Manifest,
        _ secrets: [String: Secret]
    ) -> Bool {
        simulation == nil && secrets.isEmpty && manifest.uses.isEmpty && !connector.hasBindings
            && JSONValue.object(leaf.config).isLiteral
    }

    /// The validated value of a field, or its default; nil if it has neither or is invalid.
    private mutating func value(
        of field: ConfigurationField,
        _ manifest: Manifest,
        _ connector: Connector,
        _ values: [String: Evaluated?],
        _ unknownNames: [String],
        at location: JSONPath
    ) -> JSONValue? {
        guard let given = values[field.name] else {
            if field.isRequired, !unknownNames.contains(where: { isMisspelling($0, of: field.name) }), json.hasRoom() {
                reportMissing(field, manifest, connector)
            }
            return field.defaultValue.map { resolved($0, of: field) }
        }
        guard var evaluated = given else { return nil }
        if evaluated.isOneVariable { evaluated.value = field.converted(evaluated.value) }
        let here = location.appending(field.name)
        if evaluated.isSecret, !field.isSecret {
            json.report(
                .invalidValue,
                "the plugin \(manifest.id) receives \"\(field.name)\" in clear text: its manifest does not mark the field as secret",
                fix: "write \"${NAME}\" if the value is not secret, or "
                    + (manifest.entry == nil
                        ? "let the library read it from a file, and take the file's path"
                        : "add \"secret\": true to the field in the manifest"),
                at: here
            )
            return nil
        }
        if evaluated.hasPlaceholder, field.problem(with: evaluated.value) != nil {
            evaluated.value = field.placeholder
        }
        if let problem = field.problem(with: evaluated.value) {
            json.report(
                field.isOfOtherType(evaluated.value) ? .wrongType : .invalidValue,
                "\(field.name) \(problem)",
                fix: evaluated.isOneVariable ? "correct the environment variable that holds the value" : nil,
                at: here
            )
            return nil
        }
        if field.isRequired, !field.mayBeEmpty, evaluated.value.string?.isEmpty ?? false {
            json.report(.missingValue, "\(field.name) is required, but empty", fix: field.documentationFix, at: here)
            return nil
        }
        return resolved(evaluated.value, of: field)
    }

    /// Resolves a path field against the file's directory; returns any other value unchanged.
    ///
    /// The path is absolute, because a runner has another working directory.
    private func resolved(_ value: JSONValue, of field: ConfigurationField) -> JSONValue {
        guard field.type == .path, let path = value.string else { return value }
        return .string(base.resolve(path).withUnmarkedPaths.rootedPath)
    }

    private mutating func reportMissing(_ field: ConfigurationField, _ manifest: Manifest, _ connector: Connector) {
        // Point to `config`, or to `plugin` if there is no `config`.
        let hasConfig = json.has(connector.location.appending("config"))
        json.report(
            .missingValue,
            "the plugin \(manifest.id) requires \"\(field.name)\" in \"config\"",
            fix: field.documentationFix,
            at: connector.location.appending(hasConfig ? "config" : "plugin")
        )
    }

    // MARK: Values

    /// Expands the variables and secrets in a value; nil, with an error reported, on failure.
    private mutating func evaluate(_ value: JSONValue, at path: JSONPath) -> Evaluated? {
        switch value {
        case .null, .bool, .integer, .number: return Evaluated(value: value)
        case .string(let text):
            let needsNone = hasPlaceholders && isInSecretField || simulation?.opensNothing == true
            let standIn = needsNone ? ResolvedLeaf.missingSecret : nil
            return variables.filled(text, at: path, standIn: standIn, reporting: &json).map {
                Evaluated(
                    value: .string($0.text),
                    isOneVariable: $0.isOneVariable,
                    hasPlaceholder: $0.hasStandIn
                )
            }
        case .array(let elements):
            let results = elements.enumerated().map { evaluate($1, at: path.appending($0)) }
            let found = results.compactMap(\.self)
            guard found.count == results.count else { return nil }
            return Evaluated(
                value: .array(found.map(\.value)),
                origin: found.compactMap(\.origin).max { $0.changedAt < $1.changedAt },
                isSecret: found.contains(where: \.isSecret),
                hasPlaceholder: found.contains(where: \.hasPlaceholder)
            )
        case .object(let object):
            if object.isSecretReference { return secret(object, at: path) }
            // A secret is a text, so the object is meant as a reference.
            if isInSecretField, object["secret"] != nil || object.resemblesSecretReference {
                _ = json.members(of: value, at: path, allowed: JSONObject.secretNames)
                return nil
            }
            var members: [JSONObject.Member] = []
            var isSecret = false
            var hasPlaceholder = false
            var origin: SecretOrigin?
            for member in object.members {
                guard let result = evaluate(member.value, at: path.appending(member.name)) else { continue }
                isSecret = isSecret || result.isSecret
                if let other = result.origin, origin.map({ $0.changedAt < other.changedAt }) ?? true { origin = other }
                hasPlaceholder = hasPlaceholder || result.hasPlaceholder
                members.append(.init(name: member.name, value: result.value))
            }
            guard members.count == object.members.count else { return nil }
            return Evaluated(
                value: .object(JSONObject(unique: members)),
                origin: origin,
                isSecret: isSecret,
                hasPlaceholder: hasPlaceholder
            )
        }
    }
}

extension JSONValue {
    /// Whether the value stands for itself: no variable and no secret is part of it.
    fileprivate var isLiteral: Bool {
        switch self {
        case .null, .bool, .integer, .number: true
        case .string(let text): !text.utf8.contains(UInt8(ascii: "$"))
        case .array(let elements): elements.allSatisfy(\.isLiteral)
        case .object(let object): !object.isSecretReference && object.members.allSatisfy(\.value.isLiteral)
        }
    }
}

extension ConfigurationField {
    /// Converts a variable's value to the field's type, if possible.
    fileprivate func converted(_ value: JSONValue) -> JSONValue {
        guard let text = value.string, let parsed = try? JSONValue(parsing: text) else { return value }
        return switch type {
        case .integer where parsed.integer != nil: parsed
        case .number where parsed.number != nil: parsed
        case .boolean where parsed.bool != nil: parsed
        default: value
        }
    }

    /// A value that the field accepts in place of a missing one: a secret's in a simulation, any field's in a probe.
    package var placeholder: JSONValue {
        if let allowed = allowedValues.first { return allowed }
        return switch type {
        case .url: .string("https://\(ResolvedLeaf.missingSecret)@simulated.invalid/1")
        case .integer: .integer(Int64(exactly: (minimum ?? 0).rounded(.up)) ?? 0)
        case .number: .number(minimum ?? 0)
        case .boolean: false
        case .duration: "1s"
        case .string, .path, .json: parameter == .u64 ? "0" : .string(ResolvedLeaf.missingSecret)
        }
    }

    /// Whether a value's JSON type differs from the field's.
    fileprivate func isOfOtherType(_ value: JSONValue) -> Bool {
        switch type {
        case .url, .duration, .path: value.string == nil
        case .integer: value.integer == nil && !value.exceedsIntegers
        default: typeProblem(with: value) != nil
        }
    }

    /// The field's documentation, as the fix of an error.
    fileprivate var documentationFix: String? {
        documentation.isEmpty ? nil : "set \"\(name)\": \(documentation)"
    }
}

extension JSONReader {
    /// The error as one of a leaf's plugin, at the place that names the plugin. An error in the plugin's own manifest has a position there,
    /// and keeps it.
    package mutating func located(_ error: ConnectorError, atPluginOf connector: Connector) -> ConnectorError {
        var error = error
        error.connector = connector.path
        if error.position == nil { error.position = position(of: connector.location.appending("plugin")) }
        return error
    }

    /// Whether the file has a value at a path.
    fileprivate mutating func has(_ path: JSONPath) -> Bool {
        position(of: path) != position(of: path.parent)
    }
}
