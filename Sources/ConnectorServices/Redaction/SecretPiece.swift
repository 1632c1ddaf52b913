// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How many bytes of a secret a text may show before they are hidden.
///
/// All lengths fit a byte.
enum SecretPiece {
    /// Enough for the beginning or the end of a secret where a mark shows that the rest was cut off.
    static let leastAtMark = 4

    /// Enough for a piece with such marks on both sides.
    static let leastBetweenMarks = 8

    /// Enough of any secret, because half of a private key gives the other half away.
    static let mostVisible = 64

    /// Enough anywhere: half of the secret, but at least 8 bytes, or all of a shorter one.
    static func leastAnywhere(of count: Int) -> UInt8 {
        UInt8(clamping: min(count, mostVisible, max(8, (count + 1) / 2)))
    }

    /// Enough for the beginning of a secret where the text ends, and for its end where the text begins: 8 bytes, or
    /// three quarters of a shorter secret.
    static func leastAtEnd(of count: Int) -> UInt8 {
        UInt8(clamping: min(8, max(leastAtMark, (3 * min(count, mostVisible) + 3) / 4)))
    }
}
