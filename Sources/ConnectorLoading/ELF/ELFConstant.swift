// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Constants of the ELF format, with the names of elf(5) in the comments.
package enum ELFConstant {
    /// `ELFOSABI_SYSV` in `EI_OSABI`: any system of the processor.
    package static let anySystem: UInt8 = 0
    /// `ELFOSABI_GNU` in `EI_OSABI`: a system with extensions of GNU.
    package static let gnuSystem: UInt8 = 3

    /// `PT_LOAD`: mapped into memory.
    package static let load: UInt32 = 1
    /// `PT_DYNAMIC`: the dynamic section.
    package static let dynamic: UInt32 = 2
    /// `PT_INTERP`: the dynamic linker's path, in programs.
    package static let interpreter: UInt32 = 3
    /// `PT_NOTE`: notes.
    package static let note: UInt32 = 4
    /// `PT_PHDR`: the program headers themselves.
    package static let headers: UInt32 = 6
    /// `PT_TLS`: the first values of thread-local variables.
    package static let threadLocal: UInt32 = 7
    /// `PT_GNU_EH_FRAME`: the index of functions for unwinding.
    package static let unwindIndex: UInt32 = 0x6474_E550
    /// `PT_GNU_STACK`: whether stacks must be executable.
    package static let stack: UInt32 = 0x6474_E551
    /// `PT_GNU_RELRO`: memory that becomes read-only after relocation.
    package static let readOnlyAfterRelocation: UInt32 = 0x6474_E552
    /// `PT_GNU_PROPERTY`: notes that the dynamic linker reads.
    package static let property: UInt32 = 0x6474_E553

    /// `PF_X` in `p_flags`.
    package static let executable: UInt32 = 1
    /// `PF_W` in `p_flags`.
    package static let writable: UInt32 = 2
    /// `PF_R` in `p_flags`.
    package static let readable: UInt32 = 4

    /// `SHT_NOBITS`: a section that occupies no space in the file.
    package static let emptySection: UInt32 = 8
    /// `SHT_DYNSYM`: the symbols for dynamic linking.
    package static let dynamicSymbolSection: UInt32 = 11

    /// `DF_1_PIE` in `DT_FLAGS_1`: a program, although its type is that of a library.
    package static let programFlag: UInt64 = 0x0800_0000
    /// `DF_1_NOOPEN` in `DT_FLAGS_1`: the dynamic linker refuses to load it while a program runs.
    package static let noOpenFlag: UInt64 = 0x40
    /// `DF_TEXTREL` in `DT_FLAGS`: relocations write into segments that are not writable.
    package static let textRelocationFlag: UInt64 = 4
    /// `DF_STATIC_TLS` in `DT_FLAGS`: thread-local variables are in memory that is set aside when the process starts.
    package static let staticTLSFlag: UInt64 = 0x10
}

/// A tag of the dynamic section that the dynamic linker or the host reads (gABI chapter 5, GNU extensions).
package enum DynamicTag: UInt64 {
    case needed = 1
    case jumpRelocationSize = 2
    case procedureTable = 3
    case hash = 4
    case stringTable = 5
    case symbolTable = 6
    case relocations = 7
    case relocationSize = 8
    case relocationEntrySize = 9
    case stringTableSize = 10
    case symbolEntrySize = 11
    case initializer = 12
    case finalizer = 13
    case soname = 14
    case rpath = 15
    case implicitRelocations = 17
    case jumpRelocationKind = 20
    case textRelocations = 22
    case jumpRelocations = 23
    case initializers = 25
    case finalizers = 26
    case initializersSize = 27
    case finalizersSize = 28
    case runpath = 29
    case flags = 30
    case packedRelocationsSize = 35
    case packedRelocations = 36
    case packedRelocationEntrySize = 37
    case gnuHash = 0x6FFF_FEF5
    case versionSymbols = 0x6FFF_FFF0
    case relativeCount = 0x6FFF_FFF9
    case flags1 = 0x6FFF_FFFB
    case versionDefinitions = 0x6FFF_FFFC
    case versionDefinitionCount = 0x6FFF_FFFD
    case versionNeeds = 0x6FFF_FFFE
    case versionNeedCount = 0x6FFF_FFFF
    case auxiliary = 0x7FFF_FFFD
    case filter = 0x7FFF_FFFF

    /// Whether a section may have several entries of this tag.
    var repeats: Bool { self == .needed || self == .auxiliary || self == .filter }

    /// A unique number below 64: a bit in a word, and an index.
    var slot: Int { rawValue < 40 ? Int(rawValue) : 40 + Int(rawValue & 15) + (rawValue == 0x6FFF_FEF5 ? 1 : 0) }
}
