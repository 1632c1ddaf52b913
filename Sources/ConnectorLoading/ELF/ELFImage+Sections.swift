// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ELFImage {
    /// One section header.
    package struct Section {
        /// The offset of the section's name in the section names.
        package var name: Int
        /// `sh_type`.
        package var type: UInt32
        /// `sh_flags`.
        package var flags: UInt64
        /// The section's address in memory, without the base address.
        package var address: UInt64
        /// The section's offset in the file, in bytes.
        package var offset: Int
        /// The section's size, in bytes.
        package var size: Int
        /// `sh_link`: the index of a related section.
        package var link: Int
        /// `sh_addralign`.
        package var alignment: UInt64
    }

    /// The section at an index; nil outside the table.
    package func section(at index: Int) -> Section? {
        guard index >= 0, index < sectionTable.count else { return nil }
        let start = sectionTable.offset + index * 64
        guard let name = bytes.integer(at: start, as: UInt32.self),
            let type = bytes.integer(at: start + 4, as: UInt32.self),
            let flags = bytes.integer(at: start + 8, as: UInt64.self),
            let address = bytes.integer(at: start + 16, as: UInt64.self),
            let offset = bytes.offset(at: start + 24), let size = bytes.offset(at: start + 32),
            let link = bytes.integer(at: start + 40, as: UInt32.self),
            let alignment = bytes.integer(at: start + 48, as: UInt64.self)
        else { return nil }
        return Section(
            name: Int(name),
            type: type,
            flags: flags,
            address: address,
            offset: offset,
            size: size,
            link: Int(link),
            alignment: alignment
        )
    }

    /// The first section whose name, at an offset in the file, satisfies a condition.
    private func firstSection(where isMatch: (Int) -> Bool) -> Section? {
        guard let names = section(at: sectionTable.namesIndex) else { return nil }
        for index in 0..<sectionTable.count {
            guard let section = section(at: index), section.name < names.size else { continue }
            let (offset, overflow) = names.offset.addingReportingOverflow(section.name)
            if !overflow, isMatch(offset) { return section }
        }
        return nil
    }

    /// The section with a name; nil if there is none, or the section headers were stripped.
    package func section(named name: String) -> Section? {
        firstSection { bytes.hasText(name.utf8Span.span, at: $0) }
    }

    /// Whether any section's name has a prefix.
    package func hasSection(prefixed prefix: String) -> Bool {
        firstSection { bytes.text(at: $0, limit: 128)?.hasPrefix(prefix) == true } != nil
    }
}
