// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An IPv4 or IPv6 address.
package struct NetworkAddress: Sendable, Hashable {
    /// The four or sixteen bytes of the address, most significant first.
    package let bytes: [UInt8]

    /// Reads `192.0.2.1` or `2001:db8::1`, the latter in brackets too; nil for a name.
    package init?(_ text: String) {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let text = isBracketed ? String(text.dropFirst().dropLast()) : text
        let isSix = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isSix ? 16 : 4)
        let isAddress = unsafe bytes.withUnsafeMutableBytes {
            unsafe inet_pton(isSix ? AF_INET6 : AF_INET, text, $0.baseAddress) == 1
        }
        guard isAddress else { return nil }
        // An IPv4-mapped IPv6 address counts as the IPv4 address.
        self.bytes = isSix && bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] ? Array(bytes[12...]) : bytes
    }

    /// Whether it is a loopback address: 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
    }

    /// Whether the address is in the network of a prefix with the given number of bits.
    package func isInside(_ network: NetworkAddress, prefix length: Int) -> Bool {
        guard bytes.count == network.bytes.count, (0...(8 * bytes.count)).contains(length) else { return false }
        return bytes.indices.allSatisfy { index in
            let bits = min(8, max(0, length - 8 * index))
            return bits == 0 || (bytes[index] ^ network.bytes[index]) >> (8 - bits) == 0
        }
    }
}
