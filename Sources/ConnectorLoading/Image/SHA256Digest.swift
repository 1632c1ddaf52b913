// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import CSodium
#endif

/// A SHA-256 digest (FIPS 180-4), which identifies an image regardless of its name.
package struct SHA256Digest: Sendable, Hashable, CustomStringConvertible {
    /// The first 16 bytes, in the standard's order.
    private let first: UInt128
    /// The last 16 bytes.
    private let second: UInt128

    /// Hashes bytes.
    package init(of bytes: UnsafeRawBufferPointer) {
        #if canImport(CryptoKit)
            var hash = SHA256()
            unsafe hash.update(bufferPointer: bytes)
            (first, second) = unsafe hash.finalize().withUnsafeBytes { digest in
                unsafe (
                    digest.loadUnaligned(as: UInt128.self),
                    digest.loadUnaligned(fromByteOffset: 16, as: UInt128.self)
                )
            }
        #else
            var halves: (UInt128, UInt128) = (0, 0)
            unsafe withUnsafeMutablePointer(to: &halves) { halves in
                // Cannot fail, and needs no sodium_init().
                _ = unsafe halves.withMemoryRebound(to: UInt8.self, capacity: 32) { digest in
                    unsafe crypto_hash_sha256(digest, bytes.baseAddress, UInt64(bytes.count))
                }
            }
            (first, second) = halves
        #endif
    }

    /// Hashes the UTF-8 of a text.
    package init(of text: String) {
        var text = text
        self = text.withUTF8 { unsafe SHA256Digest(of: UnsafeRawBufferPointer($0)) }
    }

    /// 64 hexadecimal digits in lower case, as sha256sum(1) prints them.
    package var description: String {
        unsafe String(unsafeUninitializedCapacity: 64) { target in
            for index in 0..<32 {
                let half = (index < 16 ? first : second).littleEndian
                let byte = UInt8(truncatingIfNeeded: half >> UInt128(index % 16 * 8))
                unsafe target[2 * index] = Self.digit(byte >> 4)
                unsafe target[2 * index + 1] = Self.digit(byte & 15)
            }
            return 64
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
