// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The dynamic section of an image: the names of libraries and the locations of tables.
///
/// If a tag has several entries, the last one counts, as for the dynamic linker.
package struct DynamicSection {
    /// The file offset of `DT_STRTAB`; nil if absent or outside the file, as for all tables here.
    private(set) package var strings: Int?
    /// The file offset of `DT_SYMTAB`.
    private(set) package var symbols: Int?
    /// The file offset of `DT_GNU_HASH`.
    private(set) package var gnuHash: Int?
    /// The file offset of `DT_HASH`.
    private(set) package var hash: Int?
    /// The string offsets of the needed libraries' names, in order.
    ///
    /// Includes libraries of filters (`DT_FILTER`, `DT_AUXILIARY`), which are loaded like needed ones.
    private(set) package var needed: [Int] = []
    /// The string offsets of the needed libraries that the image can do without (`DT_AUXILIARY`).
    private(set) package var auxiliary: [Int] = []
    /// Whether the section ends with a null tag.
    private(set) package var isTerminated = false
    /// A tag that has two entries although it may have only one.
    private(set) package var repeated: DynamicTag?
    /// The values, by their tags' slots.
    private var values = [UInt64](repeating: 0, count: 64)
    /// The tags present, one bit for each slot.
    private var present: UInt64 = 0

    /// The maximum number of entries to read; real images have about thirty, or a few hundred with many libraries.
    private static let entryLimit = 1024

    /// Reads the section; nil if the image has none, as when it is linked statically.
    package init?(_ image: ELFImage) {
        // The dynamic linker takes the last one.
        guard let segment = image.segments.last(where: { $0.type == ELFConstant.dynamic && $0.size > 0 }) else {
            return nil
        }
        for index in 0..<min(segment.size / 16, Self.entryLimit) {
            guard let tag = image.bytes.integer(at: segment.offset + index * 16, as: UInt64.self),
                let value = image.bytes.integer(at: segment.offset + index * 16 + 8, as: UInt64.self)
            else { return nil }
            if tag == 0 {
                isTerminated = true
                break
            }
            guard let tag = DynamicTag(rawValue: tag) else { continue }
            if tag.repeats {
                needed.append(Int(exactly: value) ?? .max)
                if tag == .auxiliary { auxiliary.append(Int(exactly: value) ?? .max) }
            } else {
                if present & 1 << UInt64(tag.slot) != 0 { repeated = tag }
                present |= 1 << UInt64(tag.slot)
                values[tag.slot] = value
            }
        }
        strings = self[.stringTable].flatMap(image.offset(ofAddress:))
        symbols = self[.symbolTable].flatMap(image.offset(ofAddress:))
        gnuHash = self[.gnuHash].flatMap(image.offset(ofAddress:))
        hash = self[.hash].flatMap(image.offset(ofAddress:))
    }

    /// The value of a tag; nil if it has no entry.
    package subscript(tag: DynamicTag) -> UInt64? {
        present & 1 << UInt64(tag.slot) != 0 ? values[tag.slot] : nil
    }

    /// A value that is a size, a count or a string offset.
    package func size(_ tag: DynamicTag) -> Int? {
        self[tag].map { Int(exactly: $0) ?? .max }
    }

    /// `DT_STRSZ`.
    package var stringsSize: Int { size(.stringTableSize) ?? 0 }
    /// `DT_FLAGS_1`.
    package var flags1: UInt64 { self[.flags1] ?? 0 }
    /// The string offset of the image's soname.
    package var soname: Int? { size(.soname) }
    /// The string offset of `DT_RPATH`.
    package var rpath: Int? { size(.rpath) }
    /// The string offset of `DT_RUNPATH`.
    package var runpath: Int? { size(.runpath) }
}

extension ELFImage {
    /// The most needed libraries to accept; each is searched for in many folders.
    package static let neededLimit = 256

    /// A string of the dynamic string table; nil outside it.
    package func string(_ dynamic: DynamicSection, at index: Int, limit: Int = 4096) -> String? {
        guard let strings = dynamic.strings, index >= 0, index < dynamic.stringsSize else { return nil }
        let (offset, overflow) = strings.addingReportingOverflow(index)
        return overflow ? nil : bytes.text(at: offset, limit: limit)
    }

    /// The libraries that the image needs, in its order.
    package func neededLibraries(_ dynamic: DynamicSection) -> [String] {
        dynamic.needed.prefix(Self.neededLimit).compactMap { string(dynamic, at: $0) }
    }

    /// The ``neededLibraries(_:)`` whose absence does not prevent the dynamic linker from loading the image (glibc, dl-deps.c).
    package func auxiliaryLibraries(_ dynamic: DynamicSection) -> Set<String> {
        let offsets = dynamic.auxiliary.prefix(Self.neededLimit).filter { offset in
            // The image may need one of them as well.
            dynamic.needed.count { $0 == offset } == dynamic.auxiliary.count { $0 == offset }
        }
        return Set(offsets.compactMap { string(dynamic, at: $0) })
    }

    /// The libraries that the image needs; empty without a dynamic section.
    package var neededNames: [String] { DynamicSection(self).map { neededLibraries($0) } ?? [] }

    /// The soname; nil if the image has none.
    package var libraryName: String? {
        DynamicSection(self).flatMap { dynamic in dynamic.soname.flatMap { string(dynamic, at: $0) } }
    }

    /// Whether the image is a program; position-independent programs have the ELF type of a library.
    package func isProgram(_ dynamic: DynamicSection?) -> Bool {
        if type == Self.program { return true }
        if let dynamic, dynamic.flags1 & ELFConstant.programFlag != 0 { return true }
        // Some shared libraries, such as libc.so.6, can be run and name an interpreter too, but they have a soname.
        return segment(ELFConstant.interpreter) != nil && dynamic?.soname == nil
    }
}
