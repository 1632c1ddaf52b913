// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ELFImage {
    /// Whether `dlsym` would find a symbol in the image, looked up the same way without loading.
    package func exports(_ name: String, _ dynamic: DynamicSection) -> Bool {
        exported(name.utf8Span.span, dynamic) != nil
    }

    /// Whether `dlsym` would find a symbol in the image; false without a dynamic section.
    package func exports(_ name: String) -> Bool {
        DynamicSection(self).map { exports(name, $0) } ?? false
    }

    /// The symbol that `dlsym` would find by a name; nil if there is none.
    ///
    /// Uses the hash tables, so the cost does not grow with the number of symbols.
    package func exported(_ name: Span<UInt8>, _ dynamic: DynamicSection) -> Symbol? {
        if let table = dynamic.gnuHash { return exported(name, dynamic, gnuHash: table) }
        if let table = dynamic.hash { return exported(name, dynamic, hash: table) }
        return nil
    }

    /// The maximum number of symbols to compare; good hash tables have chains of two or three.
    private static let chainLimit = 4096

    /// Looks up a name in the GNU hash table: a Bloom filter, buckets, and chains whose last entry has its lowest bit
    /// set.
    private func exported(_ name: Span<UInt8>, _ dynamic: DynamicSection, gnuHash table: Int) -> Symbol? {
        guard let bucketCount = bytes.integer(at: table, as: UInt32.self), bucketCount > 0,
            let firstSymbol = bytes.integer(at: table + 4, as: UInt32.self),
            let filterCount = bytes.integer(at: table + 8, as: UInt32.self), filterCount > 0,
            let filterShift = bytes.integer(at: table + 12, as: UInt32.self)
        else { return nil }
        var hash: UInt32 = 5381
        for index in name.indices { hash = hash &* 33 &+ UInt32(name[index]) }
        let filters = table + 16
        let word = bytes.integer(at: filters + Int(hash / 64 % filterCount) * 8, as: UInt64.self)
        let mask: UInt64 = 1 << UInt64(hash % 64) | 1 << UInt64((hash &>> (filterShift & 31)) % 64)
        guard let word, word & mask == mask else { return nil }
        let buckets = filters + Int(filterCount) * 8
        let chains = buckets + Int(bucketCount) * 4
        guard var symbol = bytes.integer(at: buckets + Int(hash % bucketCount) * 4, as: UInt32.self),
            symbol >= firstSymbol
        else { return nil }
        for _ in 0..<Self.chainLimit {
            guard let link = bytes.integer(at: chains + Int(symbol - firstSymbol) * 4, as: UInt32.self) else { break }
            if link | 1 == hash | 1, let found = defined(Int(symbol), name, dynamic) { return found }
            guard link & 1 == 0, symbol < .max else { break }
            symbol += 1
        }
        return nil
    }

    /// The hash of a name by the gABI, as in its hash table and in the tables of versions.
    static func hash(of name: Span<UInt8>) -> UInt32 {
        var hash: UInt32 = 0
        for index in name.indices {
            hash = hash << 4 &+ UInt32(name[index])
            let high = hash & 0xF000_0000
            hash = (hash ^ high >> 24) & ~high
        }
        return hash
    }

    /// Looks up a name in the hash table of the gABI: buckets and chains of symbol indices that end with 0.
    private func exported(_ name: Span<UInt8>, _ dynamic: DynamicSection, hash table: Int) -> Symbol? {
        guard let bucketCount = bytes.integer(at: table, as: UInt32.self), bucketCount > 0 else { return nil }
        let hash = Self.hash(of: name)
        let buckets = table + 8
        let chains = buckets + Int(bucketCount) * 4
        var next = bytes.integer(at: buckets + Int(hash % bucketCount) * 4, as: UInt32.self)
        // A damaged chain may be circular.
        for _ in 0..<Self.chainLimit {
            guard let symbol = next, symbol != 0 else { break }
            if let found = defined(Int(symbol), name, dynamic) { return found }
            next = bytes.integer(at: chains + Int(symbol) * 4, as: UInt32.self)
        }
        return nil
    }

    /// A symbol, if it has this name, is defined here, and is visible from outside.
    private func defined(_ index: Int, _ name: Span<UInt8>, _ dynamic: DynamicSection) -> Symbol? {
        guard let symbol = symbol(at: index, dynamic), symbol.isExported, let strings = dynamic.strings,
            bytes.hasText(name, at: strings + symbol.name)
        else { return nil }
        return symbol
    }

    /// One entry of the dynamic symbol table.
    package struct Symbol {
        /// The offset of the symbol's name in the string table.
        package var name: Int
        /// `st_info`: binding and type.
        package var info: UInt8
        /// `st_other`: visibility.
        package var other: UInt8
        /// `st_shndx`: 0 if it is defined elsewhere.
        package var section: UInt16
        /// `st_value`: the address, before the base address is added.
        package var value: UInt64
        /// `st_size`: in bytes.
        package var size: UInt64

        /// How images refer to a symbol: `STB_…`.
        package enum Binding: UInt8 {
            case local = 0
            case global = 1
            case weak = 2
            case unique = 10
        }

        /// The kind of object that a symbol denotes: `STT_…`.
        package enum Kind: UInt8 {
            case unspecified = 0
            case object = 1
            case function = 2
            case threadLocal = 6
            case indirectFunction = 10
        }

        /// The binding; nil for one that the linker does not know.
        package var binding: Binding? { Binding(rawValue: info >> 4) }
        /// The kind of object; nil if the linker does not look such symbols up.
        package var kind: Kind? { Kind(rawValue: info & 15) }
        /// Whether other images can refer to the symbol.
        package var isExported: Bool {
            section != 0 && binding != nil && binding != .local && (other & 3 == 0 || other & 3 == 3) && kind != nil
                && (value != 0 || kind == .threadLocal)
        }
        /// Whether the symbol is undefined and hidden: the linker takes the image's own start for it, and looks in no other image.
        package var isHiddenImport: Bool { section == 0 && other & 3 != 0 }
        /// Whether another image must define the symbol before this one can be loaded. Here, the linker takes every binding for `global`
        /// that is neither `weak` nor `local`.
        package var isRequired: Bool { section == 0 && binding != .weak && binding != .local }
    }

    /// The symbol at an index; nil outside the file.
    package func symbol(at index: Int, _ dynamic: DynamicSection) -> Symbol? {
        guard let table = dynamic.symbols, index >= 0, index < bytes.count / 24 else { return nil }
        let start = table + index * 24
        guard let name = bytes.integer(at: start, as: UInt32.self),
            let info = bytes.integer(at: start + 4, as: UInt8.self),
            let other = bytes.integer(at: start + 5, as: UInt8.self),
            let section = bytes.integer(at: start + 6, as: UInt16.self),
            let value = bytes.integer(at: start + 8, as: UInt64.self),
            let size = bytes.integer(at: start + 16, as: UInt64.self)
        else { return nil }
        return Symbol(name: Int(name), info: info, other: other, section: section, value: value, size: size)
    }

    /// The number of dynamic symbols; the undefined ones come first.
    ///
    /// ELF stores no count: it follows from the hash tables, the section headers, or the start of the string table.
    package func symbolCount(_ dynamic: DynamicSection) -> Int {
        guard let start = dynamic.symbols else { return 0 }
        let limit = (bytes.count - start) / 24
        if let count = dynamic.hash.flatMap({ bytes.integer(at: $0 + 4, as: UInt32.self) }) {
            return min(Int(count), limit)
        }
        for index in 0..<sectionTable.count {
            guard let section = section(at: index) else { break }
            if section.type == ELFConstant.dynamicSymbolSection, section.offset == start {
                return min(section.size / 24, limit)
            }
        }
        if let count = dynamic.gnuHash.flatMap(symbolCount(gnuHash:)) { return min(count, limit) }
        guard let strings = dynamic.strings, strings > start else { return limit }
        return min((strings - start) / 24, limit)
    }

    /// The number of symbols up to the last one in the GNU hash table, after which there are none; nil if the table
    /// does not say.
    private func symbolCount(gnuHash table: Int) -> Int? {
        guard let bucketCount = bytes.integer(at: table, as: UInt32.self),
            let firstSymbol = bytes.integer(at: table + 4, as: UInt32.self),
            let filterCount = bytes.integer(at: table + 8, as: UInt32.self)
        else { return nil }
        let buckets = table + 16 + Int(filterCount) * 8
        let chains = buckets + Int(bucketCount) * 4
        var last: UInt32 = 0
        for index in 0..<Int(bucketCount) {
            guard let symbol = bytes.integer(at: buckets + index * 4, as: UInt32.self) else { return nil }
            last = max(last, symbol)
        }
        // An empty table begins after the last symbol, but GNU ld always writes 1.
        guard last > 0 else { return firstSymbol > 1 ? Int(firstSymbol) : nil }
        guard last >= firstSymbol else { return nil }
        while last < .max, let link = bytes.integer(at: chains + Int(last - firstSymbol) * 4, as: UInt32.self) {
            last += 1
            if link & 1 == 1 { return Int(last) }
        }
        return nil
    }

    /// The maximum number of required symbols to examine, and of bytes in their names in total.
    private static let (requiredLimit, nameLimit) = (1 << 16, 16 << 20)

    /// The names that `dlsym` would find in the image, in the order of its table, for suggestions: those of up to 64 bytes, among its
    /// first symbols.
    func exportedNames(_ dynamic: DynamicSection) -> [String] {
        (1..<max(1, min(symbolCount(dynamic), 1 << 13))).compactMap { index -> String? in
            guard let symbol = symbol(at: index, dynamic), symbol.isExported else { return nil }
            return string(dynamic, at: symbol.name, limit: 65)
        }
    }

    /// The symbols that other images must define and that satisfy a condition.
    ///
    /// - Parameter isWanted: The condition; receives the name as a C string and as bytes.
    /// - Returns: The first names in table order, each cut for messages, and the number of matches. Only the first
    ///   symbols of an image with an excessive number are examined.
    package func requiredSymbols(
        _ dynamic: DynamicSection,
        where isWanted: (UnsafePointer<CChar>, Span<UInt8>) -> Bool
    ) -> (names: [String], count: Int) {
        guard let strings = dynamic.strings else { return ([], 0) }
        var names: [String] = []
        var count = 0
        var budget = (symbols: Self.requiredLimit, bytes: Self.nameLimit)
        for index in 1..<max(1, symbolCount(dynamic)) {
            guard let symbol = symbol(at: index, dynamic), symbol.isRequired, symbol.name < dynamic.stringsSize else {
                continue
            }
            guard budget.symbols > 0, budget.bytes > 0 else { break }
            budget.symbols -= 1
            unsafe bytes.withText(at: strings + symbol.name) { text, name in
                budget.bytes -= name.count
                guard unsafe isWanted(text, name) else { return }
                count += 1
                if names.count < 20 {
                    names.append(String(decoding: (0..<min(name.count, 200)).map { name[$0] }, as: UTF8.self))
                }
            }
        }
        return (names, count)
    }
}
