// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An element of an XML document, with its name resolved to a namespace and its attributes left out.
package struct XMLElement: Sendable, Hashable {
    /// The name of the namespace; empty if the element is in none.
    package var namespace: String
    /// The name without a prefix.
    package var name: String
    /// The text in the element, without that of its children.
    package var text: String
    /// The elements directly inside it, in order.
    package var children: [XMLElement]

    /// Creates an element.
    package init(namespace: String, name: String, text: String = "", children: [XMLElement] = []) {
        self.namespace = namespace
        self.name = name
        self.text = text
        self.children = children
    }

    /// Parses a document in UTF-8: see ``XMLParser``.
    ///
    /// - Throws: `syntax` with the position of the error.
    package init(parsing bytes: [UInt8]) throws(ConnectorError) {
        self = try XMLParser.parse(bytes)
    }

    /// The first child with a name, in any namespace.
    package subscript(name: String) -> XMLElement? {
        children.first { $0.name == name }
    }

    /// The children with a name, in any namespace.
    package func all(_ name: String) -> [XMLElement] {
        children.filter { $0.name == name }
    }

    /// Text as written in an element or an attribute: markup is escaped, and characters that XML forbids become U+FFFD.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
