// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ImageSoundness {
    /// Checks the relocations, whose targets and values the linker trusts.
    func checkRelocations() throws(ConnectorError) {
        var writes = try RelocationWrites(self)
        if let size = dynamic.size(.relocationSize) {
            let start = try relocationTable(.relocations, size: size, entry: 24)
            let relative = min(dynamic.size(.relativeCount) ?? 0, size / 24)
            for index in 0..<(size / 24) {
                try check(start + index * 24, mustBeRelative: index < relative, &writes)
            }
        } else if dynamic[.relativeCount] ?? 0 != 0 {
            throw damaged("its relocations are missing")
        }
        if let size = dynamic.size(.jumpRelocationSize) {
            let start = try relocationTable(.jumpRelocations, size: size, entry: 24)
            // Some linkers count these among the other relocations too; the dynamic linker applies them once.
            let isCounted = isWithinRelocations(dynamic[.jumpRelocations] ?? 0, size)
            for index in 0..<(isCounted ? 0 : size / 24) {
                try check(start + index * 24, mustBeRelative: false, &writes)
            }
            try checkProcedures(start, count: size / 24)
        }
        if let size = dynamic.size(.packedRelocationsSize) {
            try checkPackedVersion()
            try checkPacked(try relocationTable(.packedRelocations, size: size, entry: 8), count: size / 8, &writes)
        }
        try writes.checkInitializers()
    }

    /// Whether a relocation may write a value: an address in the image, ignoring the highest byte, in which optimized
    /// Swift code tags constant strings.
    func isAddress(_ value: UInt64) -> Bool { value & .max >> 8 <= memoryEnd }

    private func relocationTable(_ tag: DynamicTag, size: Int, entry: Int) throws(ConnectorError) -> Int {
        guard size % entry == 0 else { throw damaged("the relocations end in the middle of one") }
        guard let start = try table(tag, size: size, "the relocations") else {
            throw damaged("its relocations are missing")
        }
        return start
    }

    private func isWithinRelocations(_ address: UInt64, _ size: Int) -> Bool {
        guard let start = dynamic[.relocations], let total = dynamic[.relocationSize], address >= start else {
            return false
        }
        return address - start <= total && UInt64(size) <= total - (address - start)
    }

    /// Checks one relocation with addend (`Elf64_Rela`): target, symbol and type, addend.
    private func check(_ position: Int, mustBeRelative: Bool, _ writes: inout RelocationWrites) throws(ConnectorError) {
        guard RelocationKind.isKnownHere else { return }
        guard let target = image.bytes.integer(at: position, as: UInt64.self),
            let type = image.bytes.integer(at: position + 8, as: UInt32.self), let kind = RelocationKind(type),
            let symbol = image.bytes.integer(at: position + 12, as: UInt32.self), Int(symbol) < symbolCount,
            let addend = image.bytes.integer(at: position + 16, as: UInt64.self)
        else { throw damaged("a relocation has an unknown type, or no symbol") }
        guard !mustBeRelative || kind == .relative else {
            throw damaged("a relocation is not relative, as it should be")
        }
        guard kind != .none else { return }
        guard kind != .copy else { throw damaged("a relocation copies a variable, as in programs only") }
        try writes.add(target, kind)
        switch kind {
        case .relative:
            guard isAddress(addend) else { throw damaged("a relocation points outside the image") }
            try writes.initialize(target, addend)
        case .indirect:
            guard isFunction(addend) else { throw damaged("a relocation calls an address that is not a function") }
        case .symbol, .slot, .jump:
            guard symbol > 0, let definition = image.symbol(at: Int(symbol), dynamic) else {
                throw damaged("a relocation has no symbol")
            }
            if kind == .jump {
                guard !definition.isHiddenImport else { throw damaged("a procedure is hidden, and not defined") }
                try writes.addJump(Int(symbol))
            }
            guard kind == .symbol || addend == 0 else { throw damaged("a relocation adds to the address of a symbol") }
            // A symbol defined in another image is not checked here.
            let isElsewhere = definition.section == 0 && !definition.isHiddenImport
            try writes.initialize(target, isElsewhere ? nil : definition.value &+ addend)
        case .threadLocal, .threadLocalDescriptor:
            let definition = image.symbol(at: Int(symbol), dynamic)
            let isOwn = symbol == 0 || definition?.section != 0 || definition?.isHiddenImport == true
            guard !isOwn || image.segment(ELFConstant.threadLocal) != nil else {
                throw damaged("a relocation is for thread-local variables, which it does not have")
            }
        default: break
        }
    }

    /// Checks that the relocations of the procedure linkage table leave no gap: a call through one would crash.
    private func checkProcedures(_ start: Int, count: Int) throws(ConnectorError) {
        guard RelocationKind.isKnownHere else { return }
        var lowest = UInt64.max
        var highest: UInt64 = 0
        var isUniform = true
        for index in 0..<count {
            guard let target = image.bytes.integer(at: start + index * 24, as: UInt64.self),
                let type = image.bytes.integer(at: start + index * 24 + 8, as: UInt32.self)
            else { return }
            switch RelocationKind(type) {
            case .jump: break
            case .indirect, .threadLocalDescriptor: isUniform = false
            default: throw damaged("a relocation for a procedure is for something else")
            }
            lowest = min(lowest, target)
            highest = max(highest, target)
        }
        guard !isUniform || count == 0 || (highest - lowest) / 8 == UInt64(count - 1) else {
            throw damaged("the procedure linkage table has gaps")
        }
    }

    /// Checks that an image with packed relocations needs the version by which a C library says that it knows them. glibc refuses it
    /// otherwise (glibc 2.36, dl-version.c, `_dl_check_map_versions`).
    private func checkPackedVersion() throws(ConnectorError) {
        let needs = image.versionNeeds(dynamic).filter { $0.library.hasPrefix("libc.so.") }
        guard let library = needs.first?.library, !needs.contains(where: { $0.versions.contains(Self.packedVersion) })
        else {
            return
        }
        throw ConnectorError(
            .loadFailed,
            "\(image.bytes.path) has packed relocations (DT_RELR), but does not need \(Self.packedVersion) of \(library), as it must",
            fix: "link it with -z pack-relative-relocs instead of --pack-dyn-relocs=relr, or without either"
        )
    }

    /// The version of glibc that stands for its support of packed relocations.
    private static let packedVersion = "GLIBC_ABI_DT_RELR"

    /// Checks packed relocations (`SHT_RELR`): addresses, each followed by words whose bits select the words after it.
    private func checkPacked(_ start: Int, count: Int, _ writes: inout RelocationWrites) throws(ConnectorError) {
        var next: UInt64?
        for index in 0..<count {
            guard let entry = image.bytes.integer(at: start + index * 8, as: UInt64.self) else { return }
            if entry & 1 == 0 {
                try writes.addPacked(entry)
                next = entry &+ 8
                continue
            }
            guard let base = next else { throw damaged("the relocations do not begin with an address") }
            for bit in 1..<64 as Range<UInt64> where entry >> bit & 1 == 1 {
                try writes.addPacked(base &+ (bit - 1) * 8)
            }
            next = base &+ 63 * 8
        }
    }
}
