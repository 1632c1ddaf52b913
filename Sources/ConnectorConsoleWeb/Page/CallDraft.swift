// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// The values entered into a form that did not pass validation.
struct CallDraft: Sendable {
    /// The id of the component with the form.
    var component = ""
    /// The values of the fields, by name.
    var values: [String: String] = [:]
    /// The error messages of the fields, by name.
    var faults: [String: String] = [:]

    /// The prefix of a form field's name in HTML, which sets it apart from the page's own fields.
    static let prefix = "f."

    /// The values of a posted form, by field name.
    static func values(of fields: QueryItems) -> [String: String] {
        Dictionary(
            fields.items.filter { $0.name.hasPrefix(prefix) }.map {
                (String($0.name.dropFirst(prefix.count)), $0.value)
            },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The error document of a form, for the page's script.
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
