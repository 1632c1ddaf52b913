// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What `connector-host reference` did: the pages to print, and the files that it wrote or compared.
struct ReferenceDocument: Document {
    /// A page in Markdown.
    struct Page: Sendable {
        /// The name of the page, or the id of the plugin.
        var name: String
        /// The page, which ends with a line break.
        var text: String
    }

    /// Whether the files were compared, not written.
    var isComparison = false
    /// The pages to print.
    var pages: [Page] = []
    /// The files that were written, or that have what they should.
    var files: [String] = []

    func lines(_ style: TextStyle) -> [String] {
        pages.map { $0.text.hasSuffix("\n") ? String($0.text.dropLast()) : $0.text }
    }

    var json: JSONValue {
        var object: JSONObject = ["version": 1]
        if !pages.isEmpty {
            object["pages"] = .array(pages.map { ["name": .string($0.name), "text": .string($0.text)] })
        }
        if !files.isEmpty { object[isComparison ? "current" : "written"] = .array(files.map(JSONValue.string)) }
        return .object(object)
    }
}
