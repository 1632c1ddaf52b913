// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Reads a document in UTF-8 that comes in parts, and keeps neither the children of its root once they are read nor the text between them.
///
/// ``XMLParser`` says what it accepts. Each child of the root has a limited size, and there may be any number of them.
package struct XMLStream: Sendable {
    private var parser = XMLParser()

    /// Creates the reader of a document of which nothing has come.
    package init() {}

    /// The root element without its children and its text; nil before it begins.
    package var root: XMLElement? { parser.partialRoot }

    /// Reads the next part.
    ///
    /// - Returns: The children of the root that have ended, in order.
    /// - Throws: `syntax` with the position of the error.
    package mutating func add(_ part: [UInt8]) throws(ConnectorError) -> [XMLElement] {
        try parser.add(part)
        return parser.takeChildren()
    }

    /// Checks that the document is complete.
    ///
    /// - Throws: `syntax` with the position of its end, or of what does not end.
    package mutating func end() throws(ConnectorError) {
        _ = try parser.document()
    }
}
