// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A value that stays hidden when it is printed, logged, dumped or inspected.
public struct Secret: Sendable, Hashable {
    private let value: String

    /// Hides a value.
    public init(_ value: String) {
        self.value = value
    }

    /// The value in plain text. Use it only in data sent to the vendor.
    package func reveal() -> String { value }

    /// The text shown in place of every secret.
    package static let mask = "•••"
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The mask, regardless of the value's length.
    public var description: String { Self.mask }

    /// The mask.
    public var debugDescription: String { Self.mask }

    /// Without the value, so that `dump` and debuggers do not show it.
    public var customMirror: Mirror { Mirror(self, children: ["value": Self.mask], displayStyle: .struct) }
}
