// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorServices

extension ResolvedConfiguration {
    /// The configuration of each enabled leaf, in tree order.
    ///
    /// It searches the files' texts for positions, in time proportional to their size: keep the result.
    package func configuredLeaves() -> [ConfiguredLeaf] {
        var reader = JSONReader(configuration.texts)
        return configuration.enabledLeaves.map { written, leaf in
            let connector = running(written)
            let config = if case .leaf(let leaf) = connector.kind { leaf.config } else { leaf.config }
            let resolved = try? leaves[connector.path]?.get()
            let location = connector.location.appending("config")
            var fields = config.members.map { member in
                var field = field(member, resolved)
                field.position = reader.position(of: location.appending(member.name))
                return field
            }
            for declared in resolved?.manifest.configuration ?? [] where config[declared.name] == nil {
                guard let value = declared.defaultValue else { continue }
                fields.append(
                    ConfiguredField(
                        name: declared.name,
                        value: declared.isSecret
                            ? .secret(reference: nil) : .shown(shown(resolved?.config[declared.name] ?? value)),
                        source: resolved?.movedFields.contains(declared.name) == true ? .simulator : .manifest
                    )
                )
            }
            return ConfiguredLeaf(
                path: connector.path,
                sendsEvents: resolved.map { resolved in
                    resolved.manifest.capabilities.contains { $0.operations.contains(where: \.isDelivered) }
                },
                timeout: connector.timeout ?? Connector.defaultTimeout,
                probeInterval: connector.probeInterval.map { min($0, longestProbeInterval ?? $0) },
                fields: fields
            )
        }
    }

    /// Describes a field of the file.
    private func field(_ member: JSONObject.Member, _ resolved: ResolvedLeaf?) -> ConfiguredField {
        var references = References(environment: environment)
        references.collect(member.value)
        let declared = resolved?.manifest.configuration.first { $0.name == member.name }
        let isSecret = declared?.isSecret ?? false || references.secret != nil
        let isMoved = resolved?.movedFields.contains(member.name) ?? false
        let value: ConfiguredField.Value =
            if isSecret {
                .secret(reference: references.secret ?? references.onlyVariable.map { "env:\($0)" })
            } else if let value = resolved?.config[member.name] {
                .shown(shown(value))
            } else {
                .unknown
            }
        return ConfiguredField(name: member.name, value: value, source: isMoved ? .simulator : references.source)
    }

    /// A value as text: truncated, with secrets redacted, and without the user part of URLs, which may be a key.
    func shown(_ value: JSONValue) -> String {
        redactor.redact(Self.withoutUsers(value.string ?? value.serialized()), limit: 1000)
    }

    /// The text with `•••` instead of the user part of each URL.
    private static func withoutUsers(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scheme = rest.firstRange(of: "://".unicodeScalars) {
            result += rest[..<scheme.upperBound]
            rest = rest[scheme.upperBound...]
            let authority = rest.prefix { !"/?#\" ".unicodeScalars.contains($0) }
            guard let at = authority.lastIndex(of: "@") else { continue }
            result += "•••".unicodeScalars
            rest = rest[at...]
        }
        return String(result + rest)
    }
}

/// The variables and secrets that a value in the file refers to.
private struct References {
    let environment: Configuration.Environment
    /// The text of `{"secret": …}`, as written.
    private(set) var secret: String?
    /// Whether a command prints the secret.
    private var isCommand = false
    /// The variable that makes up the whole text.
    private(set) var onlyVariable: String?
    private var set: [String] = []
    private var unset: [String] = []

    init(environment: Configuration.Environment) {
        self.environment = environment
    }

    /// The source of the value.
    var source: ConfiguredField.Source {
        if let secret {
            return switch SecretReference(secret, base: BaseDirectory(".")) {
            case .environment(let name): .environment([name])
            case .command: .command
            case .file, .credential, nil: set.isEmpty ? (isCommand ? .command : .secretFile) : .environment(set)
            }
        }
        if !set.isEmpty { return .environment(set) }
        return unset.isEmpty ? .file : .fallback(for: unset)
    }

    /// Collects the variables and secrets in a value, recursively.
    mutating func collect(_ value: JSONValue) {
        switch value {
        case .null, .bool, .integer, .number: break
        case .string(let text): collect(text)
        case .array(let elements): for element in elements { collect(element) }
        case .object(let object):
            if object.isSecretReference, let sources = object["secret"] {
                var references: [String] = []
                for source in sources.array ?? [sources] { references.append(reference(source)) }
                secret = references.joined(separator: " or ")
                for text in references { collect(text) }
                return
            }
            for member in object.members { collect(member.value) }
        }
    }

    /// A source as written; for a command, only the program, because arguments may be private.
    private mutating func reference(_ source: JSONValue) -> String {
        if let text = source.string { return text }
        if let nested = source["secret"] { return reference(nested) }
        isCommand = true
        return "exec:\(source["exec"]?[0]?.string ?? "")"
    }

    private mutating func collect(_ text: String) {
        guard let template = try? Template(parsing: text) else { return }
        for case .variable(let name, let fallback) in template.parts {
            if template.isOneVariable { onlyVariable = name }
            // As in a shell, the default replaces an unset variable and an empty one.
            let isUnset = environment[name]?.isEmpty ?? true
            if isUnset, fallback != nil {
                if !unset.contains(name) { unset.append(name) }
            } else if !set.contains(name) {
                set.append(name)
            }
        }
    }
}
