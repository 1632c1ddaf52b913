// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import CSodium
#endif

/// Ed25519 (RFC 8032): whether a signature is that of a message.
package enum Ed25519 {
    /// The size of a public key, in bytes.
    package static let keySize = 32
    /// The size of a signature, in bytes.
    package static let signatureSize = 64

    /// Whether a key made a signature for a message; false for a signature or key of another size.
    package static func isValid(_ signature: [UInt8], of message: UnsafeRawBufferPointer, key: [UInt8]) -> Bool {
        guard signature.count == signatureSize, key.count == keySize else { return false }
        #if canImport(CryptoKit)
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
            return unsafe key.isValidSignature(signature, for: Array(message))
        #else
            // Needs no sodium_init().
            return unsafe crypto_sign_verify_detached(
                signature,
                message.baseAddress?.assumingMemoryBound(to: UInt8.self),
                UInt64(message.count),
                key
            ) == 0
        #endif
    }
}
