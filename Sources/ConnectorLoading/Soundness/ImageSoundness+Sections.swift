// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ELFImage {
    /// The sections of instructions; empty without section headers, or with more than linkers create.
    func instructionSections() -> [Section] {
        var sections: [Section] = []
        sections.reserveCapacity(8)
        for index in 0..<sectionTable.count {
            guard let section = section(at: index), section.flags & 6 == 6, section.size > 0 else { continue }
            let (_, overflow) = section.address.addingReportingOverflow(UInt64(section.size))
            guard !overflow, sections.count < 64 else { return [] }
            sections.append(section)
        }
        return sections
    }
}

/// Checks that the section headers, which the linker ignores, agree with the segments and the dynamic section.
extension ImageSoundness {
    /// `SHF_WRITE`, `SHF_ALLOC`, `SHF_EXECINSTR`, `SHF_TLS`
    private static let (writes, allocated, executes, threadLocal): (UInt64, UInt64, UInt64, UInt64) = (1, 2, 4, 0x400)

    /// Compares the section headers with the loaded image: a difference shows damage to either.
    func checkSections() throws(ConnectorError) {
        var relocations: UInt64 = 0
        let readOnly = image.segment(ELFConstant.readOnlyAfterRelocation)
        for index in 0..<image.sectionTable.count {
            guard let section = image.section(at: index) else { return }
            guard section.flags & Self.allocated != 0, section.size > 0, section.type != 0 else { continue }
            if section.type != ELFConstant.emptySection || section.flags & Self.threadLocal == 0 {
                try checkPlace(of: section, index)
            }
            if section.type == 4 { relocations += UInt64(section.size) }
            try checkTable(section, index)
            if let readOnly { try checkReadOnly(readOnly, section, index) }
        }
        // Some linkers count the relocations of the procedure linkage table among the others.
        let all = dynamic[.relocationSize] ?? 0
        guard relocations == 0 || relocations == all || relocations == all &+ (dynamic[.jumpRelocationSize] ?? 0) else {
            throw damaged("the number of its relocations differs from that of its sections")
        }
    }

    /// Checks that a loaded section is in a segment with the permissions that it needs.
    private func checkPlace(of section: ELFImage.Section, _ index: Int) throws(ConnectorError) {
        var flags = ELFConstant.readable
        if section.flags & Self.writes != 0 { flags |= ELFConstant.writable }
        if section.flags & Self.executes != 0 { flags = ELFConstant.executable }
        guard section.type != ELFConstant.emptySection else {
            guard hasMemory(section.address, UInt64(section.size), flags: flags) else {
                throw damaged("section \(index) is not loaded")
            }
            // Its memory must be zero, so it must not come from the file.
            guard offset(of: section.address, 1, flags: flags) == nil else {
                throw damaged("section \(index) comes from the file, though it is empty there")
            }
            return
        }
        guard offset(of: section.address, section.size, flags: flags) == section.offset else {
            throw damaged("section \(index) is not loaded, or at the wrong address")
        }
    }

    /// Checks that a section becomes read-only as a whole or not at all. The procedure linkage table is exempt, because
    /// it starts with words for the linker.
    private func checkReadOnly(_ segment: ELFImage.Segment, _ section: ELFImage.Section, _ index: Int)
        throws(ConnectorError)
    {
        guard section.flags & Self.writes != 0, section.flags & Self.threadLocal == 0 else { return }
        let end = segment.address &+ segment.memorySize
        let sectionEnd = section.address &+ UInt64(section.size)
        guard section.address < end, sectionEnd > end else { return }
        let table = dynamic[.procedureTable] ?? 0
        guard section.address <= table, table < sectionEnd else {
            throw damaged("section \(index) is partly read-only")
        }
    }

    /// Checks that the section of a table is where the dynamic section says.
    private func checkTable(_ section: ELFImage.Section, _ index: Int) throws(ConnectorError) {
        func agree(_ tag: DynamicTag, _ size: DynamicTag? = nil) throws(ConnectorError) {
            guard dynamic[tag] == section.address, size.map({ dynamic.size($0) == section.size }) ?? true else {
                throw damaged("section \(index) is not what the dynamic section says")
            }
        }
        switch section.type {
        case 5: try agree(.hash)
        case 6:
            let segment = image.segment(ELFConstant.dynamic)
            guard segment?.address == section.address, segment?.size == section.size else {
                throw damaged("section \(index) is not what the dynamic section says")
            }
        case ELFConstant.dynamicSymbolSection:
            try agree(.symbolTable)
            if let names = image.section(at: section.link) {
                guard names.address == dynamic[.stringTable], names.size == dynamic.stringsSize else {
                    throw damaged("section \(section.link) is not what the dynamic section says")
                }
            }
        case 14: try agree(.initializers, .initializersSize)
        case 15: try agree(.finalizers, .finalizersSize)
        case 19: try agree(.packedRelocations, .packedRelocationsSize)
        case 0x6FFF_FFF6: try agree(.gnuHash)
        case 0x6FFF_FFFD: try agree(.versionDefinitions)
        case 0x6FFF_FFFE: try agree(.versionNeeds)
        case 0x6FFF_FFFF: try agree(.versionSymbols)
        default:
            guard section.flags & Self.executes != 0, let names = image.section(at: image.sectionTable.namesIndex)
            else {
                return
            }
            let name = names.offset + section.name
            for (text, tag) in [(".init", DynamicTag.initializer), (".fini", .finalizer)]
            where image.bytes.hasText(text.utf8Span.span, at: name) {
                // The tag may name another function, but not the middle of this one.
                let place = (dynamic[tag] ?? 0) &- section.address
                guard place == 0 || place >= UInt64(section.size) else {
                    throw damaged("section \(index) is not what the dynamic section says")
                }
            }
        }
    }
}
