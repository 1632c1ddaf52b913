// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The items of a URL's query, or of a form posted as `application/x-www-form-urlencoded`, in order.
package struct QueryItems: Sendable, Equatable {
    /// One item, `name=value`; a name without `=` has an empty value.
    package struct Item: Sendable, Equatable {
        /// The text before the first `=`, decoded.
        package var name: String
        /// The text after the first `=`, decoded.
        package var value: String

        /// Creates an item from decoded texts.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// How to treat an item that is not valid percent-encoded UTF-8.
    package enum Malformed: Sendable {
        /// Decode it leniently: see ``PercentCoding/decode(_:plusIsSpace:)``.
        case repaired
        /// Skip it.
        case omitted
    }

    /// Every item, repeated names included.
    package var items: [Item]

    /// Creates a query without items.
    package init() { items = [] }

    /// Parses a query: the part of a URL after `?`, or the body of a form.
    ///
    /// - Parameter limit: The most items to read; the rest is ignored.
    package init(parsing text: some StringProtocol, malformed: Malformed = .repaired, limit: Int = .max) {
        items = Self.encoded(text).prefix(limit).compactMap { item in
            let value = item.value ?? ""
            switch malformed {
            case .repaired:
                return Item(
                    name: PercentCoding.decode(item.name, plusIsSpace: true),
                    value: PercentCoding.decode(value, plusIsSpace: true)
                )
            case .omitted:
                guard let name = PercentCoding.text(item.name, plusIsSpace: true),
                    let value = PercentCoding.text(value, plusIsSpace: true)
                else { return nil }
                return Item(name: name, value: value)
            }
        }
    }

    /// Adds an item from decoded texts, unless the value is nil.
    package mutating func append(_ name: String, _ value: String?) {
        if let value { items.append(Item(name: name, value: value)) }
    }

    /// Splits text at every `&`, and each part at its first `=`; without `=`, the value is nil.
    package static func encoded(_ text: some StringProtocol) -> [(name: Substring, value: Substring?)] {
        Substring(text).utf8.split(separator: UInt8(ascii: "&")).map { part in
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (Substring(pair[0]), pair.count > 1 ? Substring(pair[1]) : nil)
        }
    }

    /// The first value under `name`, matched exactly, or `nil` when the name does not occur.
    package subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    /// The query that encodes the items, without a leading `?`.
    package var encoded: String {
        items.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
    }

    /// A path with the query after it; the path alone if there are no items.
    package func appended(to path: String) -> String { items.isEmpty ? path : "\(path)?\(encoded)" }
}
