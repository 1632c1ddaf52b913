// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The index of the system's libraries: `/etc/ld.so.cache`, as ldconfig(8) writes it (glibc, dl-cache.h).
package struct LibraryCache {
    /// The path on every system with glibc.
    package static let path = "/etc/ld.so.cache"

    private let bytes: ImageBytes
    /// The offset of the table in the current format: 0, or the end of a table in the old format.
    private let start: Int
    private let count: Int

    private static let magic = Array("glibc-ld.so.cache1.1".utf8)
    private static let oldMagic = Array("ld.so-1.7.0".utf8)
    private static let headerSize = 48
    private static let entrySize = 24

    /// Reads the cache; nil if there is none, or its format is unknown.
    package init?(path: String = Self.path) {
        guard let bytes = try? ImageBytes(path: path) else { return nil }
        self.init(bytes)
    }

    /// Reads a cache from memory.
    package init?(_ bytes: ImageBytes) {
        var start = 0
        if bytes.copy(at: 0, count: Self.oldMagic.count) == Self.oldMagic {
            guard let old = bytes.integer(at: 12, as: UInt32.self) else { return nil }
            start = (16 + Int(old) * 12 + 7) & ~7
        }
        guard bytes.copy(at: start, count: Self.magic.count) == Self.magic,
            let count = bytes.integer(at: start + 20, as: UInt32.self)
        else { return nil }
        self.bytes = bytes
        self.start = start
        self.count = min(Int(count), bytes.count / Self.entrySize)
    }

    /// The files for a library's name, of any architecture: `special` are builds for particular processors, which the
    /// dynamic linker prefers if they suit; `plain` suit every processor.
    package func paths(of name: String) -> (special: [String], plain: [String]) {
        let name = name.utf8Span.span
        var plain: [String] = []
        var special: [String] = []
        for index in 0..<count {
            let entry = start + Self.headerSize + index * Self.entrySize
            guard let key = bytes.integer(at: entry + 4, as: UInt32.self),
                let value = bytes.integer(at: entry + 8, as: UInt32.self),
                let capabilities = bytes.integer(at: entry + 16, as: UInt64.self)
            else { break }
            guard bytes.hasText(name, at: start + Int(key)), let path = bytes.text(at: start + Int(value)) else {
                continue
            }
            if capabilities == 0 { plain.append(path) } else { special.append(path) }
        }
        return (special, plain)
    }
}
