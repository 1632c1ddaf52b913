// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension Optional where Wrapped == JSONValue {
    /// The value unless it is null or an empty text, by which applications say that they do not know it: `a.given ?? b`.
    package var given: JSONValue? {
        guard let value = self, value != .null, value.string?.isEmpty != true else { return nil }
        return value
    }
}

extension Optional where Wrapped == String {
    /// The text unless it is empty: `a.given ?? b`.
    package var given: String? {
        guard let text = self, !text.isEmpty else { return nil }
        return text
    }
}
