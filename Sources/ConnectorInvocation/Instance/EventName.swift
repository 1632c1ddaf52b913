// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The names of events that plugins send: see services/events.h.
package enum EventName {
    /// Whether a name is a letter, then letters, digits, `.`, `_` and `-`.
    package static func isValid(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, first.isLetter else { return false }
        return name.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }
}
