// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How many bytes of a secret a text may show before they are hidden.
///
/// All lengths fit a byte.
enum SecretPiece {
    /// The limit for the beginning or end of a secret next to a cut mark.
    static let leastAtMark = 4

    /// The limit for a piece with cut marks on both sides.
    static let leastBetweenMarks = 8

    /// The limit for any secret, however long: half of a private key reveals the other half.
    static let mostVisible = 64

    /// The limit anywhere: half of the secret, but at least 8 bytes, or all of a shorter one.
    static func leastAnywhere(of count: Int) -> UInt8 {
        UInt8(clamping: min(count, mostVisible, max(8, (count + 1) / 2)))
    }

    /// The limit for the beginning of a secret at the end of a text, and for its end at the start of a text: 8 bytes,
    /// or three quarters of a shorter secret.
    static func leastAtEnd(of count: Int) -> UInt8 {
        UInt8(clamping: min(8, max(leastAtMark, (3 * min(count, mostVisible) + 3) / 4)))
    }
}
