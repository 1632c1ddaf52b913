// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// UUIDs made from the application's own identifiers, for vendors that recognize duplicates by UUID.
package enum StableUUID {
    /// The identifier in lower case with hyphens if it is a UUID, with hyphens or without; otherwise a UUID derived from
    /// it, the same in every delivery attempt.
    package static func from(_ identifier: String) -> String {
        let digits = identifier.lowercased().filter { $0 != "-" }
        let isUUID = digits.utf8.count == 32 && digits.utf8.allSatisfy(\.isLowercaseHexDigit)
        var uuid = ""
        for (index, digit) in (isUUID ? digits : hashed(identifier)).enumerated() {
            if [8, 12, 16, 20].contains(index) { uuid.append("-") }
            uuid.append(digit)
        }
        return uuid
    }

    /// The 32 hexadecimal digits of a UUID derived from an identifier, even if that is a UUID. Half of them is enough to tell identifiers
    /// apart, unlike half of a UUID, which may be a number or begin with a time.
    package static func hashed(_ identifier: String) -> String {
        let digits = hash(identifier, seed: 0) + hash(identifier, seed: 1)
        // Version 8 of RFC 9562: a custom UUID.
        return String(digits.enumerated().map { $0.offset == 12 || $0.offset == 16 ? "8" : $0.element })
    }

    /// The 64-bit FNV-1a hash, in hexadecimal.
    private static func hash(_ text: String, seed: UInt64) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return hash.hexadecimal()
    }
}
