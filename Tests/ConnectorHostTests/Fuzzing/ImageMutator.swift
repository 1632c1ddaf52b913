// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport

@testable import ConnectorLoading

/// Damages images where the dynamic linker reads them.
struct ImageMutator {
    /// The image as it was built.
    let original: [UInt8]
    /// The parts of the file that are worth damage, the likelier ones several times.
    private let regions: [Range<Int>]
    /// Values at which code often goes wrong.
    private static let odd: [UInt64] = [
        0, 1, 7, 8, 0x10, 0xFF, 0x1000, 0x7FFF_FFFF, 0xFFFF_FFFF, .max, 1 << 63, 1 << 47,
    ]

    /// Finds the tables of an image.
    init(_ original: [UInt8]) throws {
        self.original = original
        let image = try ELFImage(ImageBytes(copying: original, path: "original.so"))
        let headers = image.segmentTable..<(image.segmentTable + image.segments.count * 56)
        var regions = [0..<64, headers, headers, headers, 0..<original.count]
        for segment in image.segments where segment.type == ELFConstant.dynamic {
            regions += Array(repeating: segment.offset..<(segment.offset + segment.size), count: 4)
        }
        for index in 0..<image.sectionTable.count {
            guard let section = image.section(at: index), section.flags & 2 != 0, section.size > 0 else { continue }
            let weight =
                switch section.type {
                // Relocations, hash tables, symbols, arrays of functions, versions.
                case 4: 2
                case 5, ELFConstant.dynamicSymbolSection, 0x6FFF_FFF6: 1
                case 14, 15, 0x6FFF_FFFD...0x6FFF_FFFF: 2
                default: 0
                }
            regions += Array(repeating: section.offset..<(section.offset + section.size), count: weight)
        }
        self.regions = regions
    }

    /// One damaged image.
    func mutant(using random: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        if Int.random(in: 0..<30, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            return bytes
        }
        let region = regions[Int.random(in: 0..<regions.count, using: &random)]
        for _ in 0..<[1, 1, 1, 2, 3][Int.random(in: 0..<5, using: &random)] {
            let width = [1, 1, 2, 4, 8][Int.random(in: 0..<5, using: &random)]
            let offset = Int.random(in: region, using: &random) / width * width
            guard offset + width <= bytes.count else { continue }
            var value = (0..<width).reduce(0 as UInt64) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: value = .random(in: 0...UInt64.max, using: &random)
            case 4..<6: value = Self.odd[Int.random(in: 0..<Self.odd.count, using: &random)]
            case 6..<8:
                let steps: [Int64] = [-1, 1, 8, -8, 16, -16, 24, -24, 4096, -4096]
                value &+= UInt64(bitPattern: steps[Int.random(in: 0..<steps.count, using: &random)])
            default: value ^= 1 << UInt64.random(in: 0..<UInt64(8 * width), using: &random)
            }
            for index in 0..<width { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
        }
        return bytes
    }
}
