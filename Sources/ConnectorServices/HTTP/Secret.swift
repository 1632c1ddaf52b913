// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A value that shows itself to nobody who prints, logs, dumps or inspects it.
public struct Secret: Sendable, Hashable {
    private let value: String

    /// Takes a value into custody.
    public init(_ value: String) {
        self.value = value
    }

    /// The value itself: for the wire, and for nothing else.
    package func reveal() -> String { value }

    /// What stands in the place of every secret.
    package static let mask = "•••"
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Three dots, however long the value is.
    public var description: String { Self.mask }

    /// Three dots, as well.
    public var debugDescription: String { Self.mask }

    /// Without the value, so that `dump` and debuggers do not show it.
    public var customMirror: Mirror { Mirror(self, children: ["value": Self.mask], displayStyle: .struct) }
}
