// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// Reads the rows of a damaged outbox page by page (sqlite.org/fileformat2.html), identifying the table of each row by its values.
///
/// Pages are untrusted: every number is checked before it is used. Pages in the write-ahead log take precedence over the file. Not even the
/// size of a page is taken from the header, which may be what is damaged: the pages themselves tell it.
final class PageScan {
    private let file: Int32
    private let log: Int32
    private let pageSize: Int
    /// The number of bytes in each page that SQLite uses.
    private let usableSize: Int
    private let pageCount: Int
    /// The offset in the log of the last committed version of each page.
    private let logged: [Int: Int]
    /// The number of overflow pages that may still be read, which bounds cycles: intact records share none.
    private var budget = 0

    /// An item found in a page.
    enum Found {
        /// A row, with the values of its table's ``SalvagedTable/columns``.
        case row(SalvagedTable, [SalvagedValue])
        /// The position of an event, from the index of ids.
        case listed(Int64)
        /// A row of `dead` or `skipped`, and the number of its page: all rows of a page belong to the same table.
        case settled(target: Int64, position: Int64, page: Int)
        /// An entry of the index of `dead` or `retries` by position.
        case indexed(target: Int64, position: Int64)
    }

    /// Opens a file and its log; nil if the file cannot be opened. Both stay open until this is deallocated, because closing them
    /// releases the locks of this process on the file.
    init?(_ path: String) {
        file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        log = unsafe open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        var status = stat()
        let length = unsafe file >= 0 && fstat(file, &status) == 0 ? Int(status.st_size) : 0
        let sizes =
            Self.sizes(of: file, [0..<min(length, Self.sample)]) ?? Self.sizes(of: file, Self.samples(of: length))
        let scan = LogScan(log, pageSize: sizes?.page)
        (pageSize, usableSize) = (scan.pageSize, sizes?.usable ?? scan.pageSize)
        // A large file without a page or a header of SQLite has nothing to find, and would take minutes to read.
        let isDatabase = sizes != nil || length <= Self.sample || Self.hasHeader(file)
        pageCount = isDatabase ? min(length / pageSize + (length % pageSize).signum(), Self.mostPages) : 0
        logged = scan.pages
        if file < 0 { return nil }
    }

    deinit {
        if file >= 0 { _ = close(file) }
        if log >= 0 { _ = close(log) }
    }

    /// The most pages that SQLite numbers. A sparse file may be longer.
    private static let mostPages = Int(UInt32.max) - 1
    /// How much of a file is read to find the size of its pages: the first page of every table is there.
    private static let sample = 8 << 20

    /// Whether a file begins as SQLite's files do.
    private static func hasHeader(_ file: Int32) -> Bool {
        LogScan.read(file, 16, at: 0) == Array("SQLite format 3\0".utf8)
    }

    /// The pieces of a file longer than the first sample that are read if there is no page in that: as much again, all over the file.
    private static func samples(of length: Int) -> [Range<Int>] {
        guard length > sample else { return [] }
        // Pages of every size begin at multiples of the largest one.
        let size = 1 << 16
        let count = sample / size
        return (0..<count).map { length / count * $0 / size * size }.map { $0..<min($0 + size, length) }
    }

    /// The size of a page, and how much of it SQLite uses: the size at which most pages are those of tables and indices. Read in larger
    /// pieces, a file shows only some of its pages; read in smaller ones, the cells of most would lie beyond the end.
    ///
    /// - Parameter pieces: The parts of the file to look at.
    /// - Returns: Nil if no page tells.
    private static func sizes(of file: Int32, _ pieces: [Range<Int>]) -> (page: Int, usable: Int)? {
        var best: (page: Int, usable: Int)?
        var most = 0
        for size in (9...16).map({ 1 << $0 }) {
            var (count, end) = (0, 0)
            for piece in pieces {
                // The first page begins with the header of the file.
                for offset in stride(from: max(piece.lowerBound, size), to: piece.upperBound, by: size) {
                    guard let page = LogScan.read(file, size, at: offset), let content = page.treeContent else {
                        continue
                    }
                    count += 1
                    // The content of a page without cells begins where it ends.
                    if page.number(3, 2) == 0 { end = max(end, content) }
                }
            }
            guard count > most else { continue }
            best = (page: size, usable: end > 0 ? end : size)
            most = count
        }
        return best
    }

    /// Calls a body with every item that can be identified.
    ///
    /// - Parameter onPage: Called before each page that is read: each but those in a hole of a sparse file.
    func forEachRow(
        onPage: () throws(Database.Failure) -> Void = {},
        _ body: (Found) throws(Database.Failure) -> Void
    ) throws(Database.Failure) {
        // Only the pages that exist: a damaged log may name any number.
        var inLog = logged.keys.filter { $0 > 0 }.sorted()[...]
        var first = 1
        budget = 2 * (pageCount + logged.count)
        while let number = [written(from: first), inLog.first].compactMap(\.self).min() {
            try onPage()
            if let page = page(number) {
                for found in rows(of: page, number) { try body(found) }
            }
            first = number + 1
            inLog = inLog.drop { $0 < first }
        }
    }

    /// The first page of the file from a number on that is not in a hole; nil if there is none.
    private func written(from number: Int) -> Int? {
        guard number <= pageCount, let offset = LogScan.data(file, from: (number - 1) * pageSize) else { return nil }
        let page = offset / pageSize + 1
        return page <= pageCount ? page : nil
    }

    // MARK: Pages

    private func page(_ number: Int) -> [UInt8]? {
        if let offset = logged[number] { return LogScan.read(log, pageSize, at: offset) }
        return number >= 1 && number <= pageCount ? LogScan.read(file, pageSize, at: (number - 1) * pageSize) : nil
    }

    // MARK: Cells

    /// The items in a page: a leaf of a table, or a page of an index. A page of an unknown kind is read as either.
    private func rows(of page: [UInt8], _ number: Int) -> [Found] {
        // The first page begins with the header of the file.
        let start = number == 1 ? 100 : 0
        let kind = page[start]
        guard kind != 0x05 else { return [] }
        let count = page.number(start + 3, 2)
        let pointers = start + (kind == 0x02 ? 12 : 8)
        guard pointers + count * 2 <= usableSize else { return [] }
        return (0..<count).compactMap { index in
            let cell = page.number(pointers + index * 2, 2)
            guard cell >= pointers, cell < usableSize else { return nil }
            if kind != 0x0A, kind != 0x02, let found = tableRow(page, cell) { return found }
            return kind == 0x0D ? nil : indexRow(page, kind == 0x02 ? cell + 4 : cell, number)
        }
    }

    private func tableRow(_ page: [UInt8], _ cell: Int) -> Found? {
        guard let size = page.varint(cell), let key = page.varint(size.end),
            let values = record(page, key.end, size.value, most: usableSize - 35)
        else { return nil }
        let id = SalvagedValue.integer(key.value)
        switch values.count {
        case 5...7 where values.isRoute:
            let next = values.count > 5 ? values[5] : .none
            return .row(.routes, [id, values[1], values[4], values[2], values[3], next])
        case 5...6 where values.isEvent:
            return .row(.events, [id] + values[1...4] + [values.count > 5 ? values[5] : .none])
        case 5...8 where values.isTarget: return .row(.targets, [id] + values[1...4])
        case 8 where values[..<6].allSatisfy { $0.integer(in: Schema.times) != nil }: return .row(.attempts, values)
        default: return nil
        }
    }

    private func indexRow(_ page: [UInt8], _ cell: Int, _ number: Int) -> Found? {
        guard let size = page.varint(cell),
            let values = record(page, size.end, size.value, most: (usableSize - 12) * 64 / 255 - 23)
        else { return nil }
        let events = Schema.positions(of: 1).lowerBound + 1...Schema.positions.upperBound
        switch values.count {
        case 2:
            let targets = 0...events.lowerBound - 1
            if let position = values[1].integer(in: events) {
                if values[0].text != nil { return .listed(position) }
                return values[0].integer(in: targets).map { .settled(target: $0, position: position, page: number) }
            }
            guard let position = values[0].integer(in: events), let target = values[1].integer(in: targets) else {
                return nil
            }
            return .indexed(target: target, position: position)
        case 5:
            guard let route = values[1].integer(in: Schema.routes),
                values[2].integer(in: Schema.positions(of: route)) != nil
            else { return nil }
            return .row(.cursors, values)
        case 4, 6:
            guard values[0].integer(in: Schema.counts) != nil, values[1].integer(in: events) != nil,
                values[2].integer(in: Schema.times) != nil, values[3].integer(in: Schema.counts) != nil
            else { return nil }
            return .row(.retries, values.count == 6 ? values : values + [.none, .none])
        default: return nil
        }
    }

    // MARK: Records

    /// The values of a record, which may continue in overflow pages.
    ///
    /// - Parameter most: The maximum number of bytes stored in the page itself.
    private func record(_ page: [UInt8], _ start: Int, _ size: Int64, most: Int) -> [SalvagedValue]? {
        guard size > 0, size <= Int64(pageCount + logged.count) * Int64(pageSize) else { return nil }
        let size = Int(size)
        let least = (usableSize - 12) * 32 / 255 - 23
        let wanted = least + (size - least) % (usableSize - 4)
        let local = size <= most ? size : wanted <= most ? wanted : least
        guard local >= 0, start + local <= usableSize else { return nil }
        var bytes = Array(page[start..<start + local])
        if local < size {
            guard start + local + 4 <= usableSize else { return nil }
            var next = page.number(start + local, 4)
            while bytes.count < size {
                guard next > 0, budget > 0, let page = self.page(next) else { return nil }
                budget -= 1
                bytes += page[4..<min(usableSize, 4 + size - bytes.count)]
                next = page.number(0, 4)
            }
        }
        return Self.values(bytes)
    }

    private static func values(_ bytes: [UInt8]) -> [SalvagedValue]? {
        guard let header = bytes.varint(0), header.value >= header.end, header.value <= bytes.count else { return nil }
        var (type, body) = (header.end, Int(header.value))
        var values: [SalvagedValue] = []
        while type < Int(header.value) {
            guard let serial = bytes.varint(type), values.count < 8 else { return nil }
            type = serial.end
            let size: Int
            switch serial.value {
            case 0, 8, 9: size = 0
            case 1...4: size = Int(serial.value)
            case 5: size = 6
            case 6, 7: size = 8
            case 12...: size = Int((serial.value - 12) / 2)
            default: return nil
            }
            guard size <= bytes.count - body else { return nil }
            let content = bytes[body..<body + size]
            body += size
            switch serial.value {
            case 8, 9: values.append(.integer(serial.value - 8))
            case 1...6:
                let start: Int64 = (content.first ?? 0) & 0x80 == 0 ? 0 : -1
                values.append(.integer(content.reduce(start) { $0 << 8 | Int64($1) }))
            case 12...: values.append(serial.value % 2 == 0 ? .blob(Array(content)) : .text(Array(content)))
            default: values.append(.none)
            }
        }
        return type == Int(header.value) ? values : nil
    }
}

extension [SalvagedValue] {
    /// Whether these are the values of a route: its connectors in JSON, and at least three numbers.
    fileprivate var isRoute: Bool {
        self[0] == .none && self[1].bytes?.first == UInt8(ascii: "[")
            && self[2...4].allSatisfy { $0.integer(in: Int64.min...Int64.max) != nil }
    }

    /// Whether these are the values of an event: its id, its lane, its time and its payload.
    fileprivate var isEvent: Bool {
        self[0] == .none && self[1].text != nil && self[2].text?.contains(" ") == true
            && self[3].integer(in: Schema.times) != nil && self[4].bytes != nil
    }

    /// Whether these are the values of a connector: its path and its counts.
    fileprivate var isTarget: Bool {
        self[0] == .none && self[1].text != nil && self[2].integer(in: Schema.counts) != nil
            && self[3].integer(in: Schema.counts) != nil && self[4].bytes == nil
    }
}

extension [UInt8] {
    /// Where the content begins in a page of a table or an index that ends where these bytes do; nil for anything else.
    fileprivate var treeContent: Int? {
        guard let kind = first, [0x02, 0x05, 0x0A, 0x0D].contains(kind) else { return nil }
        let (cells, start) = (number(3, 2), number(5, 2))
        let (pointers, content) = (kind < 0x0A ? 12 : 8, start == 0 ? 65536 : start)
        guard pointers + cells * 2 <= content, content <= count else { return nil }
        // SQLite may leave up to 32 bytes at the end of each page to others.
        guard cells > 0 else { return content >= count - 32 ? content : nil }
        let areInside = (0..<cells).allSatisfy { (content..<count).contains(number(pointers + $0 * 2, 2)) }
        return areInside ? content : nil
    }

    /// A big-endian number; 0 beyond the end.
    fileprivate func number(_ start: Int, _ count: Int) -> Int {
        guard start >= 0, start + count <= self.count else { return 0 }
        return self[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// A variable-length integer of one to nine bytes, and the index after it; nil beyond the end.
    fileprivate func varint(_ start: Int) -> (value: Int64, end: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard start + index < count else { return nil }
            let byte = self[start + index]
            if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), start + 9) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return (Int64(bitPattern: value), start + index + 1) }
        }
        return nil
    }
}
