// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A step of a coding path without a key of the value's own type: an index, or `super`.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    /// An element of an array.
    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    /// A member by name.
    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    /// An element of an array.
    init(intValue: Int) { self.init(intValue) }

    /// The key under which a superclass is encoded.
    static let superclass = PathKey(stringValue: "super")
}

extension JSONPath {
    /// Converts a coding path.
    init(_ keys: [any CodingKey]) {
        self.init()
        for key in keys {
            if let index = (key as? PathKey)?.intValue {
                steps.append(.index(index))
            } else {
                steps.append(.name(key.stringValue))
            }
        }
    }
}
