// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
import ConnectorServices

/// One source of a secret: where its text is, and which member of it is meant.
struct SecretSource: Sendable, Hashable {
    /// Where the text is.
    var reference: SecretReference
    /// The member of the text's JSON; nil for the whole text.
    var pointer: JSONPointer?

    /// The secret in the text.
    ///
    /// - Throws: `secret-unavailable` if the text is not JSON, or the member is missing or neither text nor number.
    func member(of text: Secret) throws(ConnectorError) -> Secret {
        guard let pointer else { return text }
        let root: JSONValue
        do throws(ConnectorError) {
            root = try JSONValue(parsing: text.reveal())
        } catch {
            // The parser quotes what it read.
            let place = error.position.map { " at line \($0.line), column \($0.column)" } ?? ""
            throw ConnectorError(
                .secretUnavailable,
                "\(reference.description.excerpt) is not JSON\(place)",
                fix: "let it contain JSON, or remove \"json\" beside \"secret\""
            )
        }
        switch pointer.value(in: root) {
        case .string(let text)? where !text.isEmpty: return Secret(text)
        case .integer(let number)?: return Secret("\(number)")
        case nil:
            throw ConnectorError(
                .secretUnavailable,
                "\(reference.description.excerpt) has no value at \(pointer.description.excerpt)",
                fix: "add the value there, or correct \"json\" beside \"secret\""
            )
        case let value?:
            let place = pointer.description.isEmpty ? "the whole value" : "the value at \(pointer.description.excerpt)"
            throw ConnectorError(
                .secretUnavailable,
                "\(place) in \(reference.description.excerpt) must be a text, not "
                    + (value.string == nil ? value.kind : "an empty one"),
                fix: "write the secret there, or correct \"json\" beside \"secret\""
            )
        }
    }

    /// The source as shown to people.
    var description: String { reference.description + (pointer.map { "#\($0)" } ?? "") }
}

/// Where the value of a secret field comes from.
package struct SecretOrigin: Sendable, Hashable {
    /// The source that was read, such as `file:key`.
    package var source: String
    /// When the value last changed, as far as known: when its file was modified, or when this process first read it.
    package var changedAt: Timestamp

    /// Creates an origin.
    package init(source: String, changedAt: Timestamp) {
        self.source = source
        self.changedAt = changedAt
    }
}
