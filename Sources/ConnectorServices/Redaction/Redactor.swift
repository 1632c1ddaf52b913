// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

/// Removes secrets from the texts of plugins and vendors before the host cuts, stores, logs or shows them.
///
/// It removes secrets before it bounds the length, so that the host's cuts leave no pieces of a secret. The results and
/// progress of an operation are the application's data and pass unchanged; the host's messages about them are redacted.
///
/// Nothing that goes back to a plugin passes it: from a mask in its own words, a plugin would learn the secrets of others.
///
/// Each host has one, which learns every secret that is read while the host runs. It forgets none but those of a connector's field
/// that has had many others since: some programs print another token each time.
package final class Redactor: Sendable {
    private struct State {
        /// Those that are never forgotten.
        var secrets: Set<Secret>
        /// The last ones of each connector's fields, the oldest first.
        var recent: [Field: [Secret]] = [:]
        var finder: SecretFinder

        var all: Set<Secret> { recent.values.reduce(into: secrets) { $0.formUnion($1) } }
    }

    private struct Field: Hashable {
        var connector: String
        var name: String
    }

    /// How many secrets of one field are remembered. A gate has at most 8 sources of it, and a few instances at a time.
    private static let recentLimit = 32

    private let state: Mutex<State>

    /// The most bytes of a text that are examined before it is cut to its limit; the rest is never shown.
    private static let window = 1 << 20

    /// Creates a redactor that knows some secrets.
    package init(_ secrets: [Secret] = []) {
        state = Mutex(State(secrets: Set(secrets), finder: SecretFinder(secrets)))
    }

    /// Adds secrets to remove from now on.
    package func add(_ secrets: some Sequence<Secret>) {
        state.withLock { state in
            let new = Set(secrets).subtracting(state.secrets)
            guard !new.isEmpty else { return }
            state.secrets.formUnion(new)
            state.finder = SecretFinder(state.all)
        }
    }

    /// Adds the secrets that a connector's fields have now, by field. Each is remembered until its field has had many others.
    package func add(_ secrets: [String: Secret], of connector: String) {
        state.withLock { state in
            var isChanged = false
            for (name, secret) in secrets {
                let field = Field(connector: connector, name: name)
                var recent = state.recent[field] ?? []
                guard recent.last != secret else { continue }
                if let index = recent.firstIndex(of: secret) {
                    recent.remove(at: index)
                } else {
                    isChanged = true
                    if recent.count == Self.recentLimit { recent.removeFirst() }
                }
                recent.append(secret)
                state.recent[field] = recent
            }
            if isChanged { state.finder = SecretFinder(state.all) }
        }
    }

    /// Adds the secrets of another redactor.
    package func add(from other: Redactor) {
        add(other.state.withLock(\.all))
    }

    private var finder: SecretFinder { state.withLock(\.finder) }

    /// Returns the text with `•••` in place of every secret.
    package func redact(_ text: String) -> String {
        finder.redact(text)
    }

    /// Returns the text with `•••` in place of every secret, cut to at most `limit` bytes.
    ///
    /// A text that was cut ends with `…`.
    package func redact(_ text: String, limit: Int) -> String {
        let isHuge = text.utf8.count > max(Self.window, limit)
        let clean = redact(isHuge ? String(decoding: text.utf8Prefix(max(Self.window, limit)), as: UTF8.self) : text)
        guard isHuge || clean.utf8.count > limit else { return clean }
        return String(decoding: clean.utf8Prefix(max(0, limit - Self.ellipsis.utf8.count)), as: UTF8.self)
            + Self.ellipsis
    }

    private static let ellipsis = "…"

    /// Returns the value with `•••` in place of every secret in its strings, names and numbers.
    ///
    /// If a secret spans several of them, the whole value becomes redacted text.
    package func redact(_ value: JSONValue) -> JSONValue {
        let finder = finder
        guard !finder.isEmpty else { return value }
        let clean = Self.redact(value, finder)
        let text = clean.serialized()
        let redacted = finder.redact(text)
        return redacted == text ? clean : .string(redacted)
    }

    private static func redact(_ value: JSONValue, _ finder: SecretFinder) -> JSONValue {
        switch value {
        case .null, .bool: return value
        case .integer, .number:
            let text = value.serialized()
            let redacted = finder.redact(text)
            return redacted == text ? value : .string(redacted)
        case .string(let text): return .string(finder.redact(text))
        case .array(let elements): return .array(elements.map { redact($0, finder) })
        case .object(let object):
            return .object(object.mapping(names: { finder.redact($0) }, values: { redact($0, finder) }))
        }
    }

    /// Returns the error with `•••` in place of every secret in its texts, and in those of its outcomes.
    package func redact(_ error: ConnectorError) -> ConnectorError {
        let finder = finder
        guard !finder.isEmpty else { return error }
        var error = error
        error.message = finder.redact(error.message)
        error.cause = error.cause.map(finder.redact)
        error.fix = error.fix.map(finder.redact)
        for index in error.outcomes.indices { error.outcomes[index].error = error.outcomes[index].error.map(redact) }
        return error
    }
}

extension JSONObject {
    /// The object with other names and values. Of members whose names become equal, the first stays.
    func mapping(names: (String) -> String, values: (JSONValue) -> JSONValue) -> JSONObject {
        var known: Set<ExactText> = []
        return JSONObject(
            unique: members.compactMap { member in
                let name = names(member.name)
                guard known.insert(ExactText(name)).inserted else { return nil }
                return Member(name: name, value: values(member.value))
            }
        )
    }
}
