// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Numbers of the ELF format, named as in elf(5) without their prefix.
package enum ELFConstant {
    /// `PT_LOAD`: mapped into memory.
    package static let load: UInt32 = 1
    /// `PT_DYNAMIC`: what the dynamic linker reads.
    package static let dynamic: UInt32 = 2
    /// `PT_INTERP`: the dynamic linker's path, in programs.
    package static let interpreter: UInt32 = 3
    /// `PT_NOTE`: notes.
    package static let note: UInt32 = 4

    /// `SHT_NOTE`: a section of notes.
    package static let noteSection: UInt32 = 7
    /// `SHT_NOBITS`: a section that takes no place in the file.
    package static let emptySection: UInt32 = 8
    /// `SHT_DYNSYM`: the symbols for dynamic linking.
    package static let dynamicSymbolSection: UInt32 = 11

    /// `DF_1_PIE` in `DT_FLAGS_1`: a program, though its type is that of a library.
    package static let programFlag: UInt64 = 0x0800_0000
}

/// A tag of the dynamic section (gABI chapter 5, GNU extensions).
package enum DynamicTag: UInt64 {
    case needed = 1
    case hash = 4
    case stringTable = 5
    case symbolTable = 6
    case jumpRelocationSize = 2
    case relocations = 7
    case relocationSize = 8
    case jumpRelocations = 23
    case stringTableSize = 10
    case soname = 14
    case rpath = 15
    case runpath = 29
    case gnuHash = 0x6FFF_FEF5
    case versionSymbols = 0x6FFF_FFF0
    case flags1 = 0x6FFF_FFFB
    case versionDefinitions = 0x6FFF_FFFC
    case versionDefinitionCount = 0x6FFF_FFFD
    case versionNeeds = 0x6FFF_FFFE
    case versionNeedCount = 0x6FFF_FFFF
}
