// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Maps code addresses to source locations: functions from the symbol table, lines from the debugging information of
/// `-g`.
///
/// The file is untrusted: damaged tables yield no location or a wrong one, but never trap.
package struct CodeLocations {
    /// A location in the source.
    package struct Location: Sendable, Hashable {
        /// The function's name in the image, as the linker knows it.
        package var function: String?
        /// The source file and the line, as `file:line`.
        package var source: String?
    }

    private let image: ELFImage

    /// Sections larger than this, in bytes, are not read.
    private static let sectionLimit = 64 << 20
    /// `SHF_COMPRESSED`: such sections are not read.
    private static let compressedFlag: UInt64 = 0x800
    /// `SHT_SYMTAB`: all symbols, including those that are not exported.
    private static let symbolSection: UInt32 = 2
    /// The most source files to name: a plugin has a few, and the rest are headers.
    private static let sourceLimit = 256
    /// The most bytes of paths to read for them: many units name the same files.
    private static let pathLimit = 1 << 20

    /// Creates a resolver for an image.
    package init(_ image: ELFImage) {
        self.image = image
    }

    /// The locations of addresses, found in one pass over the image.
    package func locations(of addresses: [UInt64]) -> [Location] {
        zip(functions(at: addresses), lines(at: addresses)).map { Location(function: $0, source: $1) }
    }

    // MARK: Functions

    private func functions(at addresses: [UInt64]) -> [String?] {
        var names = [String?](repeating: nil, count: addresses.count)
        for type in [Self.symbolSection, ELFConstant.dynamicSymbolSection] {
            guard let table = section(ofType: type), let texts = image.section(at: table.link), names.contains(nil)
            else {
                continue
            }
            for index in 0..<min(table.size, Self.sectionLimit) / 24 {
                let (entry, overflow) = table.offset.addingReportingOverflow(index * 24)
                guard !overflow, let name = image.bytes.integer(at: entry, as: UInt32.self),
                    let info = image.bytes.integer(at: entry + 4, as: UInt8.self),
                    let value = image.bytes.integer(at: entry + 8, as: UInt64.self),
                    let size = image.bytes.integer(at: entry + 16, as: UInt64.self)
                else { break }
                // STT_FUNC and STT_GNU_IFUNC.
                guard info & 15 == 2 || info & 15 == 10, Int(name) < texts.size else { continue }
                for place in addresses.indices where names[place] == nil && addresses[place] &- value < size {
                    let (text, overflow) = texts.offset.addingReportingOverflow(Int(name))
                    if !overflow { names[place] = image.bytes.text(at: text) }
                }
            }
        }
        return names
    }

    private func section(ofType type: UInt32) -> ELFImage.Section? {
        (0..<image.sectionTable.count).lazy.compactMap(image.section(at:)).first { $0.type == type }
    }

    // MARK: Lines

    private func lines(at addresses: [UInt64]) -> [String?] {
        var found = [String?](repeating: nil, count: addresses.count)
        guard let first = addresses.min(), let last = addresses.max() else { return found }
        forEachUnit { unit in
            var program = unit
            program.run { row, end in
                guard end > first, row.address <= last, row.line > 0 else { return }
                for place in addresses.indices
                where found[place] == nil && row.address <= addresses[place] && addresses[place] < end {
                    found[place] = unit.path(of: row).map { "\($0):\(row.line)" }
                }
            }
            return found.contains(nil)
        }
        return found
    }

    /// The first source files that the image was compiled from, each once, as far as the debugging information names them.
    package func sourceFiles() -> [String] {
        var seen: Set<String> = []
        var files: [String] = []
        var budget = Self.pathLimit
        forEachUnit { unit in
            for path in unit.paths {
                budget -= 1 + (path?.utf8.count ?? 0)
                if let path, seen.insert(path).inserted { files.append(path) }
                guard budget > 0, files.count < Self.sourceLimit else { return false }
            }
            return true
        }
        return files
    }

    /// Visits the units of the line table until the closure returns false.
    private func forEachUnit(_ body: (LineProgram) -> Bool) {
        guard var section = bytes(of: ".debug_line") else { return }
        let texts = LineProgram.Texts(
            lines: bytes(of: ".debug_line_str") ?? DebugBytes([]),
            strings: bytes(of: ".debug_str") ?? DebugBytes([])
        )
        while section.remaining > 0, !section.isExhausted {
            guard let unit = LineProgram(&section, texts) else { continue }
            guard body(unit) else { return }
        }
    }

    /// A section of debugging information; nil if it is absent, too large, or compressed.
    private func bytes(of name: String) -> DebugBytes? {
        guard let section = image.section(named: name), section.size <= Self.sectionLimit,
            section.flags & Self.compressedFlag == 0, section.type != ELFConstant.emptySection
        else { return nil }
        return image.bytes.copy(at: section.offset, count: section.size).map { DebugBytes($0) }
    }
}
