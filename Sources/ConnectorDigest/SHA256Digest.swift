// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A SHA-256 digest (FIPS 180-4), which identifies content regardless of its name.
package struct SHA256Digest: Sendable, Hashable, CustomStringConvertible {
    /// The first 16 bytes, in the standard's order.
    private let first: UInt128
    /// The last 16 bytes.
    private let second: UInt128

    /// A digest of its halves, each in the standard's order.
    init(_ halves: (UInt128, UInt128)) {
        (first, second) = halves
    }

    /// Hashes bytes.
    package init(of bytes: UnsafeRawBufferPointer) {
        var hash = SHA256()
        unsafe hash.update(bytes)
        self = hash.digest
    }

    /// Hashes bytes.
    package init(of bytes: [UInt8]) {
        self = unsafe bytes.withUnsafeBytes { unsafe SHA256Digest(of: $0) }
    }

    /// Hashes the UTF-8 of a text.
    package init(of text: String) {
        var text = text
        self = text.withUTF8 { unsafe SHA256Digest(of: UnsafeRawBufferPointer($0)) }
    }

    /// 64 hexadecimal digits in lower case, as sha256sum(1) prints them.
    package var description: String { bytes.hexadecimal }

    /// The 32 bytes, in the standard's order.
    package var bytes: [UInt8] { (0..<32).map(byte) }

    private func byte(_ index: Int) -> UInt8 {
        let half = (index < 16 ? first : second).littleEndian
        return UInt8(truncatingIfNeeded: half >> UInt128(index % 16 * 8))
    }
}
