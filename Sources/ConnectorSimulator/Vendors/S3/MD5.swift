// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// MD5 (RFC 1321), of which S3 makes its entity tags.
enum MD5 {
    /// By how many bits each step rotates: four steps for each of the four rounds, in turn.
    private static let rotations: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// The constants of the 64 steps, made of the sines of 1 to 64.
    private static let sines: [UInt32] = [
        0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A, 0xA830_4613, 0xFD46_9501,
        0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE, 0x6B90_1122, 0xFD98_7193, 0xA679_438E, 0x49B4_0821,
        0xF61E_2562, 0xC040_B340, 0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D, 0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8,
        0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED, 0xA9E3_E905, 0xFCEF_A3F8, 0x676F_02D9, 0x8D2A_4C8A,
        0xFFFA_3942, 0x8771_F681, 0x6D9D_6122, 0xFDE5_380C, 0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70,
        0x289B_7EC6, 0xEAA1_27FA, 0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665,
        0xF429_2244, 0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92, 0xFFEF_F47D, 0x8584_5DD1,
        0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1, 0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB, 0xEB86_D391,
    ]

    /// The digest of bytes: 16 bytes.
    static func digest(of bytes: [UInt8]) -> [UInt8] {
        let whole = bytes.count / 64 * 64
        let size = UInt64(bytes.count) << 3
        var rest = bytes[whole...] + [0x80]
        rest += [UInt8](repeating: 0, count: (120 - rest.count) % 64)
        rest += (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        var state = State()
        unsafe state.add(bytes.span.extracting(first: whole).bytes)
        unsafe state.add(Array(rest).span.bytes)
        return [state.a, state.b, state.c, state.d].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }

    /// The digest of the blocks so far. Its loops are plain, so that programs built for debugging are fast enough.
    private struct State {
        /// The four words of the digest.
        var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)

        /// Adds blocks of 64 bytes.
        mutating func add(_ blocks: RawSpan) {
            var start = 0
            while start < blocks.byteCount {
                var (a, b, c, d) = (self.a, self.b, self.c, self.d)
                var step = 0
                while step < 64 {
                    var (mix, place): (UInt32, Int)
                    switch step >> 4 {
                    case 0: (mix, place) = (d ^ (b & (c ^ d)), step)
                    case 1: (mix, place) = (c ^ (d & (b ^ c)), 5 &* step &+ 1)
                    case 2: (mix, place) = (b ^ c ^ d, 3 &* step &+ 5)
                    default: (mix, place) = (c ^ (b | ~d), 7 &* step)
                    }
                    place = start &+ (place & 15) &* 4
                    let word = unsafe blocks.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self)
                    mix = mix &+ a &+ MD5.sines[step] &+ UInt32(littleEndian: word)
                    let count = MD5.rotations[(step >> 4) &* 4 &+ (step & 3)]
                    (a, d, c) = (d, c, b)
                    b = b &+ (mix &<< count | mix &>> (32 &- count))
                    step &+= 1
                }
                (self.a, self.b) = (self.a &+ a, self.b &+ b)
                (self.c, self.d) = (self.c &+ c, self.d &+ d)
                start &+= 64
            }
        }
    }
}
