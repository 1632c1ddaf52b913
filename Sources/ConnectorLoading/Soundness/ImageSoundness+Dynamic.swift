// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ImageSoundness {
    /// Tags that must occur together.
    private static let companions: [[DynamicTag]] = [
        [.stringTable, .stringTableSize, .symbolTable],
        [.relocations, .relocationSize, .relocationEntrySize],
        [.jumpRelocations, .jumpRelocationSize, .jumpRelocationKind],
        [.packedRelocations, .packedRelocationsSize, .packedRelocationEntrySize],
        [.initializers, .initializersSize], [.finalizers, .finalizersSize],
        [.versionNeeds, .versionNeedCount], [.versionDefinitions, .versionDefinitionCount],
    ]

    /// Checks the entries of the dynamic section, and the strings that they name.
    func checkDynamicSection() throws(ConnectorError) {
        guard dynamic.isTerminated else { throw damaged("the dynamic section is not terminated") }
        if let tag = dynamic.repeated { throw damaged("the dynamic section has two entries of tag \(tag.rawValue)") }
        for tags in Self.companions where tags.contains(where: { dynamic[$0] != nil }) {
            if let missing = tags.first(where: { dynamic[$0] == nil }) {
                throw damaged(
                    "the dynamic section has tag \(tags[0].rawValue), but not its companion \(missing.rawValue)"
                )
            }
        }
        try checkStrings()
        for (tag, size) in [
            (DynamicTag.relocationEntrySize, UInt64(24)), (.symbolEntrySize, 24), (.packedRelocationEntrySize, 8),
            (.jumpRelocationKind, DynamicTag.relocations.rawValue),
        ] where dynamic[tag] ?? size != size {
            throw damaged("tag \(tag.rawValue) of the dynamic section is not \(size)")
        }
        guard dynamic[.implicitRelocations] == nil else {
            throw damaged("its relocations have the format of another processor")
        }
        if let address = dynamic[.procedureTable], !hasMemory(address, 8, flags: ELFConstant.writable) {
            throw damaged("the procedure linkage table is not writable")
        }
        for tag in [DynamicTag.initializer, .finalizer] {
            if let address = dynamic[tag], !isFunction(address) {
                throw damaged("its \(tag == .initializer ? "initializer" : "finalizer") is not a function")
            }
        }
        guard dynamic.flags1 & ELFConstant.noOpenFlag == 0 else {
            throw ConnectorError(
                .loadFailed,
                "\(image.bytes.path) is marked as not to be loaded while a program runs (DF_1_NOOPEN)",
                fix: "link it without -z nodlopen"
            )
        }
    }

    /// Checks the string table, and the names that the dynamic section has in it.
    private func checkStrings() throws(ConnectorError) {
        let size = dynamic.stringsSize
        guard let strings = try table(.stringTable, size: size, "the dynamic symbols' names"), size > 0,
            image.bytes.integer(at: strings, as: UInt8.self) == 0,
            image.bytes.integer(at: strings + size - 1, as: UInt8.self) == 0
        else { throw damaged("the dynamic symbols have no names, or names without an end") }
        _ = try table(.symbolTable, size: symbolCount * 24, "the dynamic symbols")
        guard dynamic.needed.count <= ELFImage.neededLimit else {
            throw damaged("it needs \(dynamic.needed.count) libraries, more than \(ELFImage.neededLimit)")
        }
        for index in dynamic.needed + [dynamic.soname, dynamic.rpath, dynamic.runpath].compactMap(\.self) {
            guard index < size else { throw damaged("the name of a library lies outside the names") }
        }
        for index in dynamic.needed where image.bytes.integer(at: strings + index, as: UInt8.self) == 0 {
            throw damaged("it needs a library without a name")
        }
    }
}
