// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The header fields of a request or response, in order; a name may occur more than once.
///
/// Plugins, the host and the simulators share this type, so a field is copied only where it crosses the ABI or the
/// network.
public struct HTTPFields: Sendable, Hashable {
    /// The fields, in order.
    public var fields: [HTTPField]

    /// The name of the field in which the host tells a simulator which recording a gate asks, so that all paths are the vendor's own.
    package static let recording = "Connector-Host-Recording"

    /// Creates header fields in the given order.
    public init(_ fields: [HTTPField] = []) {
        self.fields = fields
    }

    /// Appends a field, even if another has the same name.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(HTTPField(name: name, value: value))
    }

    /// Removes every field with a name.
    public mutating func remove(_ name: String) {
        fields.removeAll { $0.isNamed(name) }
    }

    /// The value of the first field with a name; setting replaces all such fields, setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            remove(name)
            if let newValue { append(name, newValue) }
        }
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Creates header fields from names and values in the given order.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map(HTTPField.init))
    }
}

extension HTTPFields: Sequence {
    /// Iterates over the fields in order.
    public func makeIterator() -> IndexingIterator<[HTTPField]> {
        fields.makeIterator()
    }
}
