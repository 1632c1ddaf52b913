// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Logging

/// One line of a plugin's log, repaired and redacted for the application's log.
package struct LogEntry {
    /// Without secrets, no longer than the limit.
    private(set) var message: String
    /// The fields, without secrets.
    private(set) var metadata: Logger.Metadata = [:]
    /// Whether nothing had to be repaired.
    private(set) var isSound: Bool

    private let redact: @Sendable (String) -> String

    /// A line without fields.
    package init(message: BorrowedText, redact: @escaping @Sendable (String) -> String) {
        self.redact = redact
        self.message = Self.bounded(message, redact)
        isSound = message.isSound
    }

    /// Adds the members of a JSON object; anything else goes whole into a field named `fields`.
    package mutating func add(fields: BorrowedText) {
        guard fields.isSound, let object = try? JSONValue(parsing: fields.text).object else {
            metadata["fields"] = .string(Self.bounded(fields, redact))
            isSound = false
            return
        }
        metadata = Logger.Metadata(object.members.map { (redact($0.name), value($0.value)) }) { _, last in last }
    }

    private func value(_ value: JSONValue) -> Logger.MetadataValue {
        switch value {
        case .string(let text): .string(redact(text))
        case .array(let elements): .array(elements.map(self.value))
        case .object(let object):
            .dictionary(
                Logger.Metadata(object.members.map { (redact($0.name), self.value($0.value)) }) { _, last in last }
            )
        default: .string(value.serialized())
        }
    }

    /// Redacts before cutting, so that no secret is cut in two and left.
    private static func bounded(_ text: BorrowedText, _ redact: (String) -> String) -> String {
        let clean = redact(text.text)
        return text.isTooLong ? String(decoding: clean.utf8Prefix(LogService.sizeLimit), as: UTF8.self) : clean
    }
}
