// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Synchronization

/// Removes secrets from the texts of plugins and vendors before the host cuts, stores, logs or shows them.
///
/// It removes secrets before it bounds the length, so that the host's cuts leave no pieces of a secret. The results and
/// progress of an operation are the application's data and pass unchanged; the host's messages about them are redacted.
///
/// Each host has one, which learns every secret that is read while the host runs, and forgets none.
package final class Redactor: Sendable {
    private struct State {
        var secrets: Set<Secret>
        var finder: SecretFinder
    }

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
            state.finder = SecretFinder(state.secrets)
        }
    }

    /// Adds the secrets of another redactor.
    package func add(from other: Redactor) {
        add(other.state.withLock(\.secrets))
    }

    private var finder: SecretFinder { state.withLock(\.finder) }

    /// Whether there are no secrets to remove.
    package var isEmpty: Bool { finder.isEmpty }

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
            // Two names may become equal; keep the first.
            var names: Set<ExactText> = []
            return .object(
                JSONObject(
                    unique: object.members.compactMap { member in
                        let name = finder.redact(member.name)
                        guard names.insert(ExactText(name)).inserted else { return nil }
                        return JSONObject.Member(name: name, value: redact(member.value, finder))
                    }
                )
            )
        }
    }

    /// Returns the error with `•••` in place of every secret in its texts.
    package func redact(_ error: ConnectorError) -> ConnectorError {
        let finder = finder
        guard !finder.isEmpty else { return error }
        var error = error
        error.message = finder.redact(error.message)
        error.cause = error.cause.map(finder.redact)
        error.fix = error.fix.map(finder.redact)
        return error
    }
}
