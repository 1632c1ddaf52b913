// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import CSodium
#endif

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
///
/// A copy is independent, so a state can be kept and returned to.
package struct SHA256: Sendable {
    #if canImport(CryptoKit)
        private var state = CryptoKit.SHA256()
    #else
        private var state = crypto_hash_sha256_state()
    #endif

    /// Begins with no bytes.
    package init() {
        #if !canImport(CryptoKit)
            // Cannot fail, and needs no sodium_init().
            _ = unsafe crypto_hash_sha256_init(&state)
        #endif
    }

    /// Adds bytes at the end.
    package mutating func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// Adds bytes at the end.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        #if canImport(CryptoKit)
            unsafe state.update(bufferPointer: bytes)
        #else
            _ = unsafe crypto_hash_sha256_update(&state, bytes.baseAddress, UInt64(bytes.count))
        #endif
    }

    /// The digest of the bytes so far.
    package var digest: SHA256Digest {
        var halves: (UInt128, UInt128) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &halves) { target in
            #if canImport(CryptoKit)
                unsafe state.finalize().withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            #else
                var state = state
                guard let start = unsafe target.bindMemory(to: UInt8.self).baseAddress else { return }
                _ = unsafe crypto_hash_sha256_final(&state, start)
            #endif
        }
        return SHA256Digest(halves)
    }

    /// The digest of the bytes so far, 64 hexadecimal digits in lower case, as sha256sum(1) prints them.
    package var hexadecimal: String { digest.description }
}
