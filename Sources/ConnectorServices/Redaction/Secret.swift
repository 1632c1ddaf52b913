// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A value that stays hidden when it is printed, logged, dumped or inspected.
///
/// Two are equal only if they have the same code points: to a vendor, texts equivalent in Unicode are two passwords.
public struct Secret: Sendable, Hashable {
    private let value: ExactText

    /// Hides a value.
    public init(_ value: String) {
        self.value = ExactText(value)
    }

    /// The value in plain text. Use it only in data sent to the vendor.
    package func reveal() -> String { value.text }

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
