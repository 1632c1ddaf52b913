// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The fields of a query, or of a form that was posted as `application/x-www-form-urlencoded`.
struct FormFields: Sendable {
    private var fields: [(name: String, value: String)] = []

    /// Every field, in order.
    var all: [(name: String, value: String)] { fields }

    /// The most fields that are read; a form of ours has fewer.
    private static let limit = 256

    /// Reads fields; those that are not encoded as they should be are left out.
    init(_ text: String) {
        for pair in text.split(separator: "&").prefix(Self.limit) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                continue
            }
            fields.append((name, value))
        }
    }

    /// The value of the first field of a name; nil if there is none.
    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Every field whose name begins so, without that beginning.
    func values(beginning prefix: String) -> [(name: String, value: String)] {
        fields.filter { $0.name.hasPrefix(prefix) }.map { (String($0.name.dropFirst(prefix.count)), $0.value) }
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentCoding.bytes(text, plusIsSpace: true).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
