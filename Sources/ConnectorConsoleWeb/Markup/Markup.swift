// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A fragment of HTML.
///
/// Names of elements and attributes are literals of this module. Every other text is escaped when it is added, so text from a
/// plugin or a vendor can never become markup.
struct Markup: Sendable {
    /// The HTML.
    private(set) var text = ""

    /// An attribute of an element; nil omits it, and an empty value adds only its name.
    typealias Attribute = (name: StaticString, value: String?)

    /// Adds a text.
    mutating func write(_ text: String) {
        self.text.append(Escaping.text(text))
    }

    /// Adds a text that a form submits again, as the content of a `textarea`.
    mutating func writeValue(_ value: String) {
        text.append(Escaping.value(value))
    }

    /// Adds an element with content.
    mutating func element(
        _ name: StaticString,
        _ attributes: Attribute...,
        content: (inout Markup) -> Void
    ) {
        begin(name, attributes)
        content(&self)
        text.append("</\(name)>")
    }

    /// Adds an element that contains a text.
    mutating func element(_ name: StaticString, _ attributes: Attribute..., text: String) {
        begin(name, attributes)
        write(text)
        self.text.append("</\(name)>")
    }

    /// Adds a void element, which has no content, such as `input`.
    mutating func void(_ name: StaticString, _ attributes: Attribute...) {
        begin(name, attributes)
    }

    /// Adds another fragment.
    mutating func append(_ other: Markup) {
        text.append(other.text)
    }

    /// Adds the document type, which precedes everything else in a document.
    mutating func writeDocumentType() {
        text.append("<!doctype html>")
    }

    private mutating func begin(_ name: StaticString, _ attributes: [Attribute]) {
        text.append("<\(name)")
        for attribute in attributes {
            guard let value = attribute.value else { continue }
            let name = "\(attribute.name)"
            let escaped = name == "value" ? Escaping.value(value) : Escaping.text(value)
            text.append(value.isEmpty ? " \(name)" : " \(name)=\"\(escaped)\"")
        }
        text.append(">")
    }
}
