// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ELFImage {
    /// Whether the image exports a symbol that `dlsym` would find, looked up the same way without loading.
    ///
    /// It uses the hash tables, so one exported symbol costs as much as fifty thousand.
    package func exports(_ name: String, _ dynamic: DynamicSection) -> Bool {
        let name = name.utf8Span.span
        if let table = dynamic.gnuHash { return isExported(name, dynamic, gnuHash: table) }
        if let table = dynamic.hash { return isExported(name, dynamic, hash: table) }
        return false
    }

    /// The GNU hash table: a Bloom filter, buckets, and chains whose last entry has its lowest bit set.
    private func isExported(_ name: Span<UInt8>, _ dynamic: DynamicSection, gnuHash table: Int) -> Bool {
        guard let bucketCount = bytes.integer(at: table, as: UInt32.self), bucketCount > 0,
            let firstSymbol = bytes.integer(at: table + 4, as: UInt32.self),
            let filterCount = bytes.integer(at: table + 8, as: UInt32.self), filterCount > 0,
            let filterShift = bytes.integer(at: table + 12, as: UInt32.self)
        else { return false }
        var hash: UInt32 = 5381
        for index in name.indices { hash = hash &* 33 &+ UInt32(name[index]) }
        let filters = table + 16
        let word = bytes.integer(at: filters + Int(hash / 64 % filterCount) * 8, as: UInt64.self)
        let mask: UInt64 = 1 << UInt64(hash % 64) | 1 << UInt64((hash &>> (filterShift & 31)) % 64)
        guard let word, word & mask == mask else { return false }
        let buckets = filters + Int(filterCount) * 8
        let chains = buckets + Int(bucketCount) * 4
        guard var symbol = bytes.integer(at: buckets + Int(hash % bucketCount) * 4, as: UInt32.self),
            symbol >= firstSymbol
        else { return false }
        while let link = bytes.integer(at: chains + Int(symbol - firstSymbol) * 4, as: UInt32.self) {
            if link | 1 == hash | 1, isDefined(Int(symbol), name, dynamic) { return true }
            guard link & 1 == 0, symbol < .max else { return false }
            symbol += 1
        }
        return false
    }

    /// The hash table of the gABI: buckets and chains of symbol indices, ended by 0.
    private func isExported(_ name: Span<UInt8>, _ dynamic: DynamicSection, hash table: Int) -> Bool {
        guard let bucketCount = bytes.integer(at: table, as: UInt32.self), bucketCount > 0,
            let chainCount = bytes.integer(at: table + 4, as: UInt32.self)
        else { return false }
        var hash: UInt32 = 0
        for index in name.indices {
            hash = hash << 4 &+ UInt32(name[index])
            let high = hash & 0xF000_0000
            hash = (hash ^ high >> 24) & ~high
        }
        let buckets = table + 8
        let chains = buckets + Int(bucketCount) * 4
        guard var symbol = bytes.integer(at: buckets + Int(hash % bucketCount) * 4, as: UInt32.self) else {
            return false
        }
        // A damaged chain may be circular; it has no more links than fit into the file.
        var remaining = min(Int(chainCount), bytes.count / 4)
        while symbol != 0, remaining > 0 {
            if isDefined(Int(symbol), name, dynamic) { return true }
            guard let next = bytes.integer(at: chains + Int(symbol) * 4, as: UInt32.self) else { return false }
            symbol = next
            remaining -= 1
        }
        return false
    }

    /// Whether a symbol has this name, is defined here, and is visible from outside.
    private func isDefined(_ index: Int, _ name: Span<UInt8>, _ dynamic: DynamicSection) -> Bool {
        guard let symbol = symbol(at: index, dynamic), symbol.isExported, let strings = dynamic.strings else {
            return false
        }
        return bytes.hasText(name, at: strings + symbol.name)
    }

    /// One entry of the dynamic symbol table.
    package struct Symbol {
        /// Where its name begins in the strings.
        package var name: Int
        /// `st_info`: binding and type.
        package var info: UInt8
        /// `st_other`: visibility.
        package var other: UInt8
        /// `st_shndx`: 0 if it is defined elsewhere.
        package var section: UInt16

        /// Whether other images can use it.
        package var isExported: Bool { section != 0 && info >> 4 != 0 && (other & 3 == 0 || other & 3 == 3) }
        /// Whether another image must define the symbol before this one can be loaded.
        package var isRequired: Bool { section == 0 && info >> 4 == 1 }
    }

    /// The symbol of an index; nil outside the file.
    package func symbol(at index: Int, _ dynamic: DynamicSection) -> Symbol? {
        guard let table = dynamic.symbols, index >= 0, index < bytes.count / 24 else { return nil }
        let start = table + index * 24
        guard let name = bytes.integer(at: start, as: UInt32.self),
            let info = bytes.integer(at: start + 4, as: UInt8.self),
            let other = bytes.integer(at: start + 5, as: UInt8.self),
            let section = bytes.integer(at: start + 6, as: UInt16.self)
        else { return nil }
        return Symbol(name: Int(name), info: info, other: other, section: section)
    }

    /// How many dynamic symbols there are, of which the undefined ones come first.
    package func symbolCount(_ dynamic: DynamicSection) -> Int {
        for index in 0..<sectionTable.count {
            guard let section = section(at: index) else { break }
            if section.type == ELFConstant.dynamicSymbolSection { return min(section.size, bytes.count) / 24 }
        }
        let count =
            dynamic.hash.flatMap { bytes.integer(at: $0 + 4, as: UInt32.self) }
            ?? dynamic.gnuHash.flatMap { bytes.integer(at: $0 + 4, as: UInt32.self) }
        return min(Int(count ?? 0), bytes.count / 24)
    }

    /// The names of the symbols that other images must define, in the order of the table.
    package func requiredSymbols(_ dynamic: DynamicSection) -> [String] {
        (1..<max(1, symbolCount(dynamic))).compactMap { index in
            guard let symbol = symbol(at: index, dynamic), symbol.isRequired else { return nil }
            return string(dynamic, at: symbol.name)
        }
    }
}
