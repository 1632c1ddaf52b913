// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The object that `simulate` has in place of a file of answers; not yet checked.
///
/// Two are equal if their objects are, wherever these stand.
package struct InlineAnswers: Sendable, Hashable {
    /// The object.
    package let value: JSONValue
    /// The object's path in its text.
    package let path: JSONPath
    /// The text of the configuration file that contains it.
    package let text: JSONText

    /// Records an object in one of a reader's texts.
    init(_ value: JSONValue, at path: JSONPath, in texts: [JSONText]) {
        self.value = value
        text = texts[path.text]
        var own = path
        own.text = 0
        self.path = own
    }

    package static func == (one: Self, other: Self) -> Bool { one.value == other.value }

    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
