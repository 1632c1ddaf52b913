// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorServices

/// Reads the secrets of a leaf as one snapshot, and the alternatives that lists of sources offer.
extension ConfigurationResolver {
    /// The state from which a repeated evaluation starts.
    private struct Checkpoint {
        var json: JSONReader
        var variables: VariableExpansion
        var secretCount: Int
        var unread: [UnreadSecret]
    }

    /// A source that could not be read.
    struct UnreadSecret {
        /// The key in the leaf's `config`.
        var field: String
        /// Why.
        var error: ConnectorError
        /// Whether it is a command.
        var isCommand: Bool
        /// Whether it is a file that is there: it is not merely absent, as the sources of a list may be.
        var isPresent: Bool
    }

    /// How often, at most, the secrets of a leaf are read until nothing changes meanwhile.
    private static let snapshotLimit = 50
    /// The most sources in a list.
    static let sourceLimit = 8

    private var checkpoint: Checkpoint {
        Checkpoint(json: json, variables: variables, secretCount: secrets.count, unread: unread)
    }

    private mutating func restore(_ checkpoint: Checkpoint) {
        json = checkpoint.json
        variables = checkpoint.variables
        secrets.removeLast(secrets.count - checkpoint.secretCount)
        unread = checkpoint.unread
    }

    /// A leaf as resolved, or why its plugin cannot be used; nil, with an error reported, if the file is invalid.
    ///
    /// If there are lists of sources, uses the first alternative of which every source can be read.
    mutating func resolvedLeaf(
        for connector: Connector,
        _ leaf: Connector.Leaf,
        manifest: Result<Manifest, ConnectorError>
    ) -> Result<ResolvedLeaf, ConnectorError>? {
        let start = checkpoint
        alternative = 0
        alternativeCount = 1
        defer { alternative = 0 }
        var failed: JSONReader?
        var passedOver: [UnreadSecret] = []
        while true {
            if let result = snapshot(for: connector, leaf, manifest: manifest) {
                return result.map { resolved in
                    var resolved = resolved
                    resolved.members.value.fault = Self.fault(of: passedOver.filter(\.isPresent))
                    return resolved
                }
            }
            failed = failed ?? json
            passedOver += unread.dropFirst(start.unread.count)
            alternative += 1
            guard alternative < alternativeCount else {
                json = failed ?? json
                return nil
            }
            restore(start)
        }
    }

    /// A leaf as resolved with each alternative of its secrets that can be read, the preferred one first.
    mutating func resolvedLeaves(
        for connector: Connector,
        _ leaf: Connector.Leaf,
        manifest: Manifest
    ) -> RenewedSecrets<ResolvedLeaf> {
        var alternatives: [ResolvedLeaf] = []
        var passedOver: [UnreadSecret] = []
        alternative = 0
        alternativeCount = 1
        repeat {
            let resolved = try? snapshot(for: connector, leaf, manifest: .success(manifest))?.get()
            // A source behind one that can be read is not needed.
            if resolved == nil, alternatives.isEmpty { passedOver = unread.filter(\.isPresent) }
            if let resolved,
                !alternatives.contains(where: { $0.secrets == resolved.secrets && $0.config == resolved.config })
            {
                alternatives.append(resolved)
            }
            alternative += 1
        } while alternative < alternativeCount
        return RenewedSecrets(alternatives, fault: alternatives.isEmpty ? fault : Self.fault(of: passedOver))
    }

    /// Why no alternative of the leaf's secrets can be read; nil if only commands that did not run have none.
    private var fault: SecretFault? {
        let failed = unread.filter { runsCommands || !$0.isCommand }
        if let fault = Self.fault(of: failed) { return fault }
        return unread.isEmpty ? json.problems.first.map { SecretFault($0) } : nil
    }

    private static func fault(of unread: [UnreadSecret]) -> SecretFault? {
        unread.first.map {
            SecretFault($0.error, of: Set(unread.map(\.field)), isOfCommand: $0.isCommand)
        }
    }

    /// Evaluates a leaf until its files do not change between a first reading and a second one, so that no old key
    /// comes with a new certificate.
    private mutating func snapshot(
        for connector: Connector,
        _ leaf: Connector.Leaf,
        manifest: Result<Manifest, ConnectorError>
    ) -> Result<ResolvedLeaf, ConnectorError>? {
        let start = checkpoint
        for _ in 1...Self.snapshotLimit {
            used = []
            let result = evaluatedLeaf(for: connector, leaf, manifest: manifest)
            guard !isUnchanged() else { return result }
            restore(start)
        }
        json.connector = connector.path
        json.report(
            .secretUnavailable,
            "the secrets changed each time they were read",
            fix: "replace them together, by renaming a directory or a symbolic link",
            at: connector.location.appending("config")
        )
        json.connector = nil
        return nil
    }

    /// Whether a second reading of the leaf's files yields the same; if not, forgets the first.
    private mutating func isUnchanged() -> Bool {
        let files = used.filter(\.isFile)
        guard files.count > 1 else { return true }
        for file in files where !Self.isSame(read[file], reading(file)) {
            for file in files { read[file] = nil }
            return false
        }
        return true
    }

    private static func isSame(
        _ first: Result<SecretReading, ConnectorError>?,
        _ second: Result<SecretReading, ConnectorError>
    ) -> Bool {
        switch (first, second) {
        case (.success(let first)?, .success(let second)): first == second
        case (.failure?, .failure): true
        default: false
        }
    }

    private func reading(_ reference: SecretReference) -> Result<SecretReading, ConnectorError> {
        if !runsCommands, case .command = reference {
            let none = ConnectorError(.secretUnavailable, "the command has not printed a secret yet")
            return history.output(of: reference).map { .success($0) } ?? .failure(none)
        }
        return Result { () throws(ConnectorError) in try reference.reading(environment: variables.environment) }
    }

    // MARK: Values

    /// The value that `{"secret": …}` refers to.
    mutating func secret(_ object: JSONObject, at path: JSONPath) -> Evaluated? {
        guard let sources = sources(in: object, at: path), let last = sources.last else { return nil }
        alternativeCount = max(alternativeCount, sources.count)
        let (source, here) = alternative < sources.count ? sources[alternative] : last
        let placeholder = Evaluated(
            value: .string(ResolvedLeaf.missingSecret),
            isSecret: true,
            isOneVariable: true,
            hasPlaceholder: true
        )
        // A simulation needs no secret, so it runs no command for one.
        if hasPlaceholders, case .command = source.reference { return placeholder }
        // Open no more files once the error limit is reached.
        guard read[source.reference] != nil || json.hasRoom() else { return nil }
        let text = read[source.reference] ?? reading(source.reference)
        read[source.reference] = text
        used.insert(source.reference)
        do throws(ConnectorError) {
            let reading = try text.get()
            let secret = try source.member(of: reading.secret)
            secrets.append(secret)
            let since = history.since(reading, of: source.reference)
            return Evaluated(
                value: .string(secret.reveal()),
                origin: SecretOrigin(source: source.description, changedAt: since),
                isSecret: true,
                isOneVariable: true
            )
        } catch {
            if hasPlaceholders { return placeholder }
            json.report(error, at: here)
            if let error = json.problems.last {
                let isCommand = if case .command = source.reference { true } else { false }
                let isPresent = source.reference.isPresent(environment: variables.environment)
                unread.append(
                    UnreadSecret(field: field, error: error, isCommand: isCommand, isPresent: isPresent)
                )
            }
            return nil
        }
    }

    /// The sources that a reference lists, in order, each with its place; nil, with an error reported, if one is malformed.
    mutating func sources(
        in object: JSONObject,
        at path: JSONPath
    ) -> [(source: SecretSource, place: JSONPath)]? {
        let here = path.appending("secret")
        guard let value = object["secret"], let pointer = pointer(in: object, at: path) else { return nil }
        guard case .array(let elements) = value else {
            return source(value, pointer.value, at: here).map { [($0, here)] }
        }
        guard (1...Self.sourceLimit).contains(elements.count) else {
            json.report(.invalidValue, "a list of sources has 1 to \(Self.sourceLimit) elements", at: here)
            return nil
        }
        var sources: [(source: SecretSource, place: JSONPath)] = []
        for (index, element) in elements.enumerated() {
            let here = here.appending(index)
            guard case .object(let nested) = element, nested.isSecretReference, let inner = nested["secret"] else {
                if let source = source(element, pointer.value, at: here) { sources.append((source, here)) }
                continue
            }
            guard let own = self.pointer(in: nested, at: here) else { continue }
            let place = here.appending("secret")
            if let source = source(inner, own.value ?? pointer.value, at: place) { sources.append((source, place)) }
        }
        return sources.count == elements.count ? sources : nil
    }

    /// The member of the text's JSON that a reference names; nil, with an error reported, if it is malformed.
    private mutating func pointer(in object: JSONObject, at path: JSONPath) -> (value: JSONPointer?, Void)? {
        guard let value = object["json"] else { return (nil, ()) }
        guard let text = value.string, let pointer = JSONPointer(text) else {
            json.report(
                .invalidValue,
                "\"json\" beside \"secret\" must be a JSON Pointer such as \"/password\"",
                at: path.appending("json")
            )
            return nil
        }
        return (pointer, ())
    }

    /// One source; nil, with an error reported, if it is malformed.
    private mutating func source(_ value: JSONValue, _ pointer: JSONPointer?, at path: JSONPath) -> SecretSource? {
        if case .object(let object) = value, object["exec"] != nil { return command(object, pointer, at: path) }
        guard let text = value.string else {
            json.report(.wrongType, "a secret must be a string such as \"env:NAME\", not \(value.kind)", at: path)
            return nil
        }
        let standIn = hasPlaceholders ? ResolvedLeaf.missingSecret : nil
        guard let filled = variables.filled(text, at: path, standIn: standIn, reporting: &json) else { return nil }
        guard let reference = SecretReference(filled.text, base: base) else {
            // Do not show the text: it may be the secret itself.
            json.report(.invalidValue, SecretReference.rule, at: path)
            return nil
        }
        return SecretSource(reference: reference, pointer: pointer)
    }

    /// A program with its arguments, `{"exec": ["pass", "show", "x"], "timeout": "5s"}`.
    private mutating func command(_ object: JSONObject, _ pointer: JSONPointer?, at path: JSONPath) -> SecretSource? {
        let before = json.problems.count + json.omitted
        guard let members = json.members(of: .object(object), at: path, allowed: ["exec", "timeout"]) else {
            return nil
        }
        let here = path.appending("exec")
        var words: [String] = []
        for (index, word) in json.strings("exec", in: members, at: path).enumerated() {
            let standIn = hasPlaceholders ? ResolvedLeaf.missingSecret : nil
            let filled = variables.filled(word, at: here.appending(index), standIn: standIn, reporting: &json)
            words.append(filled?.text ?? "")
        }
        var timeout = SecretReference.commandTimeout
        if let text = json.string("timeout", in: members, at: path) {
            if let duration = Duration(parsing: text), duration > .zero, duration <= SecretReference.longestTimeout {
                timeout = duration
            } else {
                let message = "the timeout of a command must be a duration up to 60s, such as \"5s\""
                json.report(.invalidValue, message, at: path.appending("timeout"))
            }
        }
        guard json.problems.count + json.omitted == before else { return nil }
        guard let reference = SecretReference(command: words, timeout: timeout, base: base) else {
            json.report(.invalidValue, "\"exec\" must list a program and its arguments", at: here)
            return nil
        }
        return SecretSource(reference: reference, pointer: pointer)
    }
}

extension JSONObject {
    /// Whether the object stands for a secret instead of for itself.
    var isSecretReference: Bool {
        self["secret"] != nil && names.allSatisfy { Self.secretNames.contains($0) || $0.hasPrefix("$") }
    }

    /// Whether the object is probably meant as a reference to a secret: `secret` is misspelt, and little else is there.
    var resemblesSecretReference: Bool {
        members.count <= Self.secretNames.count
            && names.contains { !$0.hasPrefix("$") && isMisspelling($0, of: "secret") }
    }

    /// The members of a reference to a secret.
    static var secretNames: [String] { ["secret", "json"] }
}
