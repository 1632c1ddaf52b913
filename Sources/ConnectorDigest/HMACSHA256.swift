// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// HMAC-SHA256 (RFC 2104 with FIPS 180-4): a digest that only the holders of a key can make.
package enum HMACSHA256 {
    /// The size of the hash's blocks, in bytes.
    private static let block = 64

    /// The code of a message.
    ///
    /// - Parameter key: Any bytes; one longer than 64 is hashed first, as the standard asks.
    /// - Returns: 32 bytes.
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var key = key.count > block ? digest(key) : key
        key += [UInt8](repeating: 0, count: block - key.count)
        let inner = digest(key.map { $0 ^ 0x36 } + message)
        return digest(key.map { $0 ^ 0x5C } + inner)
    }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.digest.bytes
    }
}
