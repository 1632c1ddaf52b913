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
        let text = isUUID ? digits : hash(identifier, seed: 0) + hash(identifier, seed: 1)
        var uuid = ""
        for (index, digit) in text.enumerated() {
            if [8, 12, 16, 20].contains(index) { uuid.append("-") }
            // Version 8 of RFC 9562: a custom UUID.
            uuid.append(isUUID ? digit : index == 12 ? "8" : index == 16 ? "8" : digit)
        }
        return uuid
    }

    /// The 64-bit FNV-1a hash, in hexadecimal.
    private static func hash(_ text: String, seed: UInt64) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return hash.hexadecimal()
    }
}
