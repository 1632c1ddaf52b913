// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A part of a page.
///
/// Names of elements and attributes are literals of this module, and every other text is escaped on its way in: what a plugin or a
/// vendor says cannot become markup, whatever it is.
struct Markup: Sendable {
    /// The markup so far.
    private(set) var text = ""

    /// An attribute of an element; nil leaves it out, and an empty value is a name alone.
    typealias Attribute = (name: StaticString, value: String?)

    /// Adds a text.
    mutating func write(_ text: String) {
        self.text.append(Escaping.text(text))
    }

    /// Adds an element with what is in it.
    mutating func element(
        _ name: StaticString,
        _ attributes: Attribute...,
        content: (inout Markup) -> Void
    ) {
        begin(name, attributes)
        content(&self)
        text.append("</\(name)>")
    }

    /// Adds an element with a text in it.
    mutating func element(_ name: StaticString, _ attributes: Attribute..., text: String) {
        begin(name, attributes)
        write(text)
        self.text.append("</\(name)>")
    }

    /// Adds an element that never has anything in it, such as `input`.
    mutating func void(_ name: StaticString, _ attributes: Attribute...) {
        begin(name, attributes)
    }

    /// Adds what another part has.
    mutating func append(_ other: Markup) {
        text.append(other.text)
    }

    /// Adds what stands before everything else in a document.
    mutating func writeDocumentType() {
        text.append("<!doctype html>")
    }

    private mutating func begin(_ name: StaticString, _ attributes: [Attribute]) {
        text.append("<\(name)")
        for attribute in attributes {
            guard let value = attribute.value else { continue }
            text.append(value.isEmpty ? " \(attribute.name)" : " \(attribute.name)=\"\(Escaping.text(value))\"")
        }
        text.append(">")
    }
}
