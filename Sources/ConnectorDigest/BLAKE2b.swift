// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    internal import CSodium
#endif

/// BLAKE2b (RFC 7693) with digests of 64 bytes and no key, over which prehashed signatures are made.
package enum BLAKE2b {
    /// The digest of bytes.
    package static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        #if os(Linux)
            // Cannot fail, and needs no sodium_init().
            var digest = [UInt8](repeating: 0, count: digestSize)
            let content = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            _ = unsafe crypto_generichash(&digest, digestSize, content, UInt64(bytes.count), nil, 0)
            return digest
        #else
            return unsafe computed(of: bytes)
        #endif
    }

    /// The size of a digest, in bytes.
    private static let digestSize = 64
    /// The size of the blocks that are compressed, in bytes.
    private static let blockSize = 128

    /// The digest, computed in Swift, for systems without libsodium.
    package static func computed(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var state = initial
        state[0] ^= 0x0101_0000 ^ UInt64(digestSize)
        var start = 0
        repeat {
            let count = min(blockSize, bytes.count - start)
            var block = [UInt8](repeating: 0, count: blockSize)
            for index in 0..<count { block[index] = unsafe bytes[start + index] }
            start += count
            compress(&state, block, total: UInt64(start), isLast: start == bytes.count)
        } while start < bytes.count
        return state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
    }

    /// The first words of the state, as of SHA-512.
    private static let initial: [UInt64] = [
        0x6A09_E667_F3BC_C908, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1,
        0x510E_527F_ADE6_82D1, 0x9B05_688C_2B3E_6C1F, 0x1F83_D9AB_FB41_BD6B, 0x5BE0_CD19_137E_2179,
    ]

    /// The order of a block's words in each round.
    private static let orders: [[Int]] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ]

    /// The places that each of a round's eight steps mixes.
    private static let places = [
        (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
        (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
    ]

    /// Adds a block to the state.
    private static func compress(_ state: inout [UInt64], _ block: [UInt8], total: UInt64, isLast: Bool) {
        var words = [UInt64](repeating: 0, count: 16)
        for (index, byte) in block.enumerated() { words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8) }
        var work = state + initial
        work[12] ^= total
        if isLast { work[14] = ~work[14] }
        for round in 0..<12 {
            let order = orders[round % orders.count]
            for (step, (a, b, c, d)) in places.enumerated() {
                work[a] = work[a] &+ work[b] &+ words[order[2 * step]]
                work[d] = rotated(work[d] ^ work[a], by: 32)
                work[c] = work[c] &+ work[d]
                work[b] = rotated(work[b] ^ work[c], by: 24)
                work[a] = work[a] &+ work[b] &+ words[order[2 * step + 1]]
                work[d] = rotated(work[d] ^ work[a], by: 16)
                work[c] = work[c] &+ work[d]
                work[b] = rotated(work[b] ^ work[c], by: 63)
            }
        }
        for index in 0..<8 { state[index] ^= work[index] ^ work[index + 8] }
    }

    /// A word rotated to the right.
    private static func rotated(_ word: UInt64, by count: UInt64) -> UInt64 { word >> count | word << (64 - count) }
}
