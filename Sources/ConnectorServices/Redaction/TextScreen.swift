// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import Synchronization

/// The one way in for texts of plugins and vendors: each passes it before the host cuts, stores, logs or shows it.
///
/// It takes the secrets out, and only then bounds the length. Results and progress of an operation are data for the
/// application and pass unchanged; what the host itself says about them passes here.
///
/// A host has one. It learns each secret that is read while the host runs, and forgets none.
package final class TextScreen: Sendable {
    private struct State {
        var secrets: Set<Secret>
        var redactor: Redactor
    }

    private let state: Mutex<State>

    /// The most bytes of a text that are examined before it is bounded; the rest is never shown.
    private static let window = 1 << 20

    /// Begins with the secrets of the file.
    package init(_ secrets: [Secret] = []) {
        state = Mutex(State(secrets: Set(secrets), redactor: Redactor(secrets)))
    }

    /// Takes out further secrets from now on.
    package func add(_ secrets: some Sequence<Secret>) {
        state.withLock { state in
            let new = Set(secrets).subtracting(state.secrets)
            guard !new.isEmpty else { return }
            state.secrets.formUnion(new)
            state.redactor = Redactor(state.secrets)
        }
    }

    private var redactor: Redactor { state.withLock(\.redactor) }

    /// The text with `•••` in place of every secret.
    package func redact(_ text: String) -> String {
        redactor.redact(text)
    }

    /// The text with `•••` in place of every secret, and then at most so many bytes; `…` at its end shows a cut.
    package func redact(_ text: String, limit: Int) -> String {
        let isHuge = text.utf8.count > max(Self.window, limit)
        let clean = redact(isHuge ? String(decoding: text.utf8Prefix(max(Self.window, limit)), as: UTF8.self) : text)
        guard isHuge || clean.utf8.count > limit else { return clean }
        return String(decoding: clean.utf8Prefix(max(0, limit - Self.ellipsis.utf8.count)), as: UTF8.self)
            + Self.ellipsis
    }

    private static let ellipsis = "…"

    /// The value with `•••` in place of every secret in its strings, names and numbers. A secret that spans several of
    /// them turns the whole value into redacted text.
    package func redact(_ value: JSONValue) -> JSONValue {
        let redactor = redactor
        guard !redactor.isEmpty else { return value }
        let clean = Self.redact(value, redactor)
        let text = clean.serialized()
        let redacted = redactor.redact(text)
        return redacted == text ? clean : .string(redacted)
    }

    private static func redact(_ value: JSONValue, _ redactor: Redactor) -> JSONValue {
        switch value {
        case .null, .bool: return value
        case .integer, .number:
            let text = value.serialized()
            let redacted = redactor.redact(text)
            return redacted == text ? value : .string(redacted)
        case .string(let text): return .string(redactor.redact(text))
        case .array(let elements): return .array(elements.map { redact($0, redactor) })
        case .object(let object):
            // Two names may become the same; the first one stays.
            var names: Set<String> = []
            return .object(
                JSONObject(
                    unique: object.members.compactMap { member in
                        let name = redactor.redact(member.name)
                        guard names.insert(name).inserted else { return nil }
                        return JSONObject.Member(name: name, value: redact(member.value, redactor))
                    }
                )
            )
        }
    }

    /// The error with `•••` in place of every secret in its texts.
    package func redact(_ error: ConnectorError) -> ConnectorError {
        let redactor = redactor
        guard !redactor.isEmpty else { return error }
        var error = error
        error.message = redactor.redact(error.message)
        error.cause = error.cause.map(redactor.redact)
        error.fix = error.fix.map(redactor.redact)
        return error
    }
}
