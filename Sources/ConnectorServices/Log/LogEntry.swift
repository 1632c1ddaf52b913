// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import Logging

/// One line of a plugin's log, repaired and redacted for the application's log.
package struct LogEntry {
    /// The message, redacted and at most as long as the limit.
    private(set) var message: String
    /// The fields, redacted.
    private(set) var metadata: Logger.Metadata = [:]
    /// Whether the line followed the rules and needed no repair.
    private(set) var isSound: Bool

    private let redactor: Redactor

    /// The source of the lines of plugins in the application's log. Those of the host have the module that writes them.
    package static let source = "connector"

    /// The maximum length of a message and of its fields, in bytes.
    package static let sizeLimit = LogTable.textLimit

    /// Creates a line without fields.
    package init(message: BorrowedText, redactor: Redactor) {
        self.redactor = redactor
        self.message = redactor.redact(message.text, limit: Self.sizeLimit)
        isSound = message.isSound
    }

    /// Adds the members of a JSON object; any other text becomes a field named `fields`.
    package mutating func add(fields: BorrowedText) {
        guard fields.isSound, let value = try? JSONValue(parsing: fields.text), value.object != nil else {
            metadata["fields"] = .string(redactor.redact(fields.text, limit: Self.sizeLimit))
            isSound = false
            return
        }
        // Redact once, even where the value becomes text: taking twice as long would reveal a secret to the plugin.
        let clean = Self.metadata(redactor.redact(value))
        if case .dictionary(let members) = clean { metadata = members } else { metadata["fields"] = clean }
    }

    private static func metadata(_ value: JSONValue) -> Logger.MetadataValue {
        switch value {
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(metadata))
        case .object(let object):
            .dictionary(Logger.Metadata(object.members.map { ($0.name, metadata($0.value)) }) { _, last in last })
        default: .string(value.serialized())
        }
    }
}
