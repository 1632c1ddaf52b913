// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a reload does if a connector's successor does not open: the word `reload` of `connectors.json`.
public struct ReloadMode: Sendable, Hashable, RawRepresentable {
    /// The word in the file.
    public let rawValue: String

    /// If a required connector's successor fails, or a required composite would no longer work, no gate changes.
    public static let atomic = Self(word: "atomic")
    /// Each connector whose successor opens changes.
    public static let each = Self(word: "each")

    /// Reads the word; nil for any other.
    public init?(rawValue: String) {
        guard [Self.atomic.rawValue, Self.each.rawValue].contains(rawValue) else { return nil }
        self.init(word: rawValue)
    }

    private init(word: String) {
        rawValue = word
    }
}
