// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The dynamic section of an image: the names of libraries and the places of tables.
///
/// Tables are offsets in the file here, already translated from addresses; nil if absent or outside the file.
package struct DynamicSection {
    /// Where `DT_STRTAB` is.
    package var strings: Int?
    /// `DT_STRSZ`.
    package var stringsSize = 0
    /// Where `DT_SYMTAB` is.
    package var symbols: Int?
    /// Where `DT_GNU_HASH` is.
    package var gnuHash: Int?
    /// Where `DT_HASH` is.
    package var hash: Int?
    /// Where `DT_VERNEED` is.
    package var versionNeeds: Int?
    /// `DT_VERNEEDNUM`.
    package var versionNeedCount = 0
    /// Where `DT_VERDEF` is.
    package var versionDefinitions: Int?
    /// `DT_VERDEFNUM`.
    package var versionDefinitionCount = 0
    /// `DT_FLAGS_1`.
    package var flags1: UInt64 = 0
    /// Where the names of the needed libraries stand in the strings, in their order.
    package var needed: [Int] = []
    /// Where the image's own name stands in the strings.
    package var soname: Int?
    /// Where `DT_RPATH` stands in the strings.
    package var rpath: Int?
    /// Where `DT_RUNPATH` stands in the strings.
    package var runpath: Int?

    /// The address of `DT_RELA`.
    package var relocations: UInt64?
    /// `DT_RELASZ`.
    package var relocationsSize = 0
    /// The address of `DT_JMPREL`.
    package var jumps: UInt64?
    /// `DT_PLTRELSZ`.
    package var jumpsSize = 0
    /// Whether the section ends as it must.
    private(set) var isTerminated = false

    /// How many entries are read at most; real images have some thirty.
    private static let entryLimit = 4096

    /// Reads the section; nil if the image has none, as one that is linked statically.
    package init?(_ image: ELFImage) {
        guard let segment = image.segment(ELFConstant.dynamic) else { return nil }
        let count = min(segment.size / 16, Self.entryLimit)
        for index in 0..<count {
            guard let tag = image.bytes.integer(at: segment.offset + index * 16, as: UInt64.self),
                let value = image.bytes.integer(at: segment.offset + index * 16 + 8, as: UInt64.self)
            else { return nil }
            if tag == 0 {
                isTerminated = true
                break
            }
            guard let tag = DynamicTag(rawValue: tag) else { continue }
            take(tag, value, image)
        }
    }

    private mutating func take(_ tag: DynamicTag, _ value: UInt64, _ image: ELFImage) {
        let small = Int(exactly: value) ?? .max
        switch tag {
        case .needed: needed.append(small)
        case .hash: hash = image.offset(ofAddress: value)
        case .stringTable: strings = image.offset(ofAddress: value)
        case .symbolTable: symbols = image.offset(ofAddress: value)
        case .stringTableSize: stringsSize = small
        case .soname: soname = small
        case .relocations: relocations = value
        case .relocationSize: relocationsSize = small
        case .jumpRelocations: jumps = value
        case .jumpRelocationSize: jumpsSize = small
        case .rpath: rpath = small
        case .runpath: runpath = small
        case .gnuHash: gnuHash = image.offset(ofAddress: value)
        case .versionSymbols: break
        case .flags1: flags1 = value
        case .versionDefinitions: versionDefinitions = image.offset(ofAddress: value)
        case .versionDefinitionCount: versionDefinitionCount = small
        case .versionNeeds: versionNeeds = image.offset(ofAddress: value)
        case .versionNeedCount: versionNeedCount = small
        }
    }
}

extension ELFImage {
    /// A text of the dynamic string table; nil outside it.
    package func string(_ dynamic: DynamicSection, at index: Int) -> String? {
        guard let strings = dynamic.strings, index >= 0, index < dynamic.stringsSize else { return nil }
        let (offset, overflow) = strings.addingReportingOverflow(index)
        return overflow ? nil : bytes.text(at: offset)
    }

    /// The libraries that the image asks for, in its order.
    package func neededLibraries(_ dynamic: DynamicSection) -> [String] {
        dynamic.needed.compactMap { string(dynamic, at: $0) }
    }

    /// Whether the image is a program: position-independent ones have the type of a library.
    package func isProgram(_ dynamic: DynamicSection?) -> Bool {
        if type == Self.program { return true }
        if let dynamic, dynamic.flags1 & ELFConstant.programFlag != 0 { return true }
        // Some shared libraries, such as libc.so.6, can be run and name an interpreter too, but they have a soname.
        return segment(ELFConstant.interpreter) != nil && dynamic?.soname == nil
    }
}
