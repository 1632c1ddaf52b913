// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// What somebody wrote into a form that was not right.
struct CallDraft: Sendable {
    /// What is in the fields, by their names.
    var values: [String: String] = [:]
    /// What is wrong with them, by their names.
    var faults: [String: String] = [:]

    /// What the names of a form's own fields begin with, on the page.
    static let prefix = "f."

    /// What a posted form holds.
    static func values(of fields: QueryItems) -> [String: String] {
        Dictionary(
            fields.items.filter { $0.name.hasPrefix(prefix) }.map {
                (String($0.name.dropFirst(prefix.count)), $0.value)
            },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// What is wrong with a form, for the script of the page.
    static func document(of fault: FormFault) -> JSONValue {
        let sentences = fault.errors.sorted { $0.key < $1.key }
        return [
            "version": 1,
            "errors": [
                ["code": "invalid", "message": .string(sentences.map(\.value).joined(separator: "; "))]
            ],
            "fields": .object(JSONObject(sentences.map { ($0.key, .string($0.value)) })),
        ]
    }
}
