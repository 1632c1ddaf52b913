// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import CSodium
#endif

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
///
/// A copy goes on by itself, so a state can be kept and returned to.
package struct SHA256: Sendable {
    #if canImport(CryptoKit)
        private var state = CryptoKit.SHA256()
    #else
        private var state = crypto_hash_sha256_state()
    #endif

    /// The number of digits of a digest in hexadecimal.
    package static let digitCount = 64

    /// Begins with no bytes.
    package init() {
        #if !canImport(CryptoKit)
            // Cannot fail, and needs no sodium_init().
            _ = unsafe crypto_hash_sha256_init(&state)
        #endif
    }

    /// Adds bytes at the end.
    package mutating func update(_ bytes: [UInt8]) {
        #if canImport(CryptoKit)
            state.update(data: bytes)
        #else
            unsafe bytes.withUnsafeBufferPointer { bytes in
                _ = unsafe crypto_hash_sha256_update(&state, bytes.baseAddress, UInt64(bytes.count))
            }
        #endif
    }

    /// The digest of the bytes so far, 64 hexadecimal digits in lower case, as sha256sum(1) prints them.
    package var hexadecimal: String {
        #if canImport(CryptoKit)
            let digest = Array(state.finalize())
        #else
            var (state, digest) = (state, [UInt8](repeating: 0, count: 32))
            _ = unsafe crypto_hash_sha256_final(&state, &digest)
        #endif
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
