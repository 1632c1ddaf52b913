// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Names and values of a URL's query or of an HTML form, decoded, in order.
package struct QueryItems: Sendable, Equatable {
    /// One `name=value`; a name alone has the empty value.
    package struct Item: Sendable, Equatable {
        /// Left of the first `=`.
        package var name: String
        /// Right of the first `=`.
        package var value: String
    }

    /// Every item, repeated names included.
    package var items: [Item]

    /// Splits `text`, the part after `?`, at every `&`.
    package init(parsing text: some StringProtocol) {
        items = text.split(separator: "&", omittingEmptySubsequences: true).map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Item(
                name: PercentCoding.decode(pair[0], plusIsSpace: true),
                value: pair.count > 1 ? PercentCoding.decode(pair[1], plusIsSpace: true) : ""
            )
        }
    }

    /// The first value under `name`, matched exactly, or `nil` when the name does not occur.
    package subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    /// Written back as a query, without the leading `?`.
    package var encoded: String {
        items.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
    }
}
