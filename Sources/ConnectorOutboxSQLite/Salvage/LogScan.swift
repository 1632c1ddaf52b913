// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// The frames of a write-ahead log (sqlite.org/fileformat2.html#walformat), each with one page.
///
/// SQLite takes a log to end at the first frame with a wrong checksum: what follows was not complete when the power failed. One damaged
/// byte ends it as well, although the transactions behind it were synchronized. This reads them, too.
///
/// A power failure may also tear the last transaction, whose last frames may be intact: that is not damage. It may also tear an
/// unsynchronized transaction that precedes an intact one; that is treated as damage, but loses only progress.
struct LogScan {
    /// The size of a page: the given one, or else that of a log whose header is whole, or the usual one.
    private(set) var pageSize: Int
    /// The offset in the log of the last committed version of each page.
    private(set) var pages: [Int: Int] = [:]
    /// The offset of the first damaged place with the whole commit of a later transaction behind it; nil if there is none.
    private(set) var damage: Int?
    /// The offset of the first damaged place, whatever is behind it.
    private var damaged: Int?

    /// The size of the header and of a frame's header, in bytes.
    private static let (headerSize, frameHeaderSize) = (32, 24)
    /// The size of a page if neither the log nor the file gives it.
    static let usualPageSize = 8192

    /// Reads a log.
    ///
    /// - Parameters:
    ///   - log: A descriptor; a negative one has no frames.
    ///   - pageSize: The size of a page; nil to take the log's.
    init(_ log: Int32, pageSize: Int? = nil) {
        self.pageSize = pageSize ?? Self.usualPageSize
        guard let header = Self.read(log, Self.headerSize, at: 0) else { return }
        let magic = header[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let isMagic = magic & ~1 == 0x377F_0682
        let isBigEndian = isMagic && magic & 1 == 1
        var last = Checksum(stored: header[24..<32])
        let isHeaderWhole = isMagic && Checksum().adding(header[..<24], isBigEndian) == last
        let found = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
        let isSize = isHeaderWhole && (512...65536).contains(found) && found & (found - 1) == 0
        let size = pageSize ?? (isSize ? found : Self.usualPageSize)
        self.pageSize = size
        // A log of another file's pages.
        if isSize, found != size { return }
        if !isHeaderWhole { damaged = 0 }
        // Whether the damaged transaction has ended.
        var isBehind = !isHeaderWhole
        var salt = isHeaderWhole ? header[16..<24] : nil
        var (offset, isCurrent, pending) = (Self.headerSize, true, [Int: Int]())
        while let frame = Self.read(log, Self.frameHeaderSize + size, at: offset) {
            let stored = Checksum(stored: frame[16..<24])
            let isChained = last.adding(frame[..<8], isBigEndian).adding(frame[24...], isBigEndian) == stored
            let isOurs = frame[8..<16].elementsEqual(salt ?? frame[8..<16])
            if salt == nil { salt = frame[8..<16] }
            // A log is written again from its beginning, over frames with other salts. The checksum does not include the salts.
            isCurrent = isOurs || isCurrent && isChained
            last = stored
            if !(isOurs && isChained), damaged == nil { damaged = offset }
            let isCommit = frame[4..<8].contains { $0 != 0 }
            if isCurrent {
                pending[frame[..<4].reduce(0) { $0 << 8 | Int($1) }] = offset + Self.frameHeaderSize
                if isCommit {
                    pages.merge(pending) { _, new in new }
                    pending = [:]
                }
            }
            if isOurs, isChained, isCommit, isBehind, damage == nil { damage = damaged }
            if isOurs, isCommit, damaged != nil { isBehind = true }
            offset += Self.frameHeaderSize + size
            // Whatever is in a hole of a sparse file is like this frame.
            guard frame[..<Self.frameHeaderSize].allSatisfy({ $0 == 0 }) else { continue }
            guard let data = Self.data(log, from: offset) else { break }
            offset += (data - offset) / (Self.frameHeaderSize + size) * (Self.frameHeaderSize + size)
        }
        // Another process has begun the log again meanwhile: what was read is of two logs.
        if Self.read(log, Self.headerSize, at: 0) != header { damage = nil }
    }

    /// Where a file's log is damaged before its last commit; nil if it is not. Opens no file on which this process may have locks.
    static func damage(of path: String) -> Int? {
        let log = unsafe open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard log >= 0 else { return nil }
        defer { _ = close(log) }
        guard let damage = LogScan(log).damage else { return nil }
        // Another process may have been writing that frame. It has finished it before the commit that was found behind it.
        return LogScan(log).damage == damage ? damage : nil
    }

    /// Whether the log of a file has pages, and the file is missing or has none: SQLite would delete the log.
    static func isAlone(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) != 0 || status.st_size == 0 else { return false }
        let log = unsafe open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard log >= 0 else { return false }
        defer { _ = close(log) }
        return !LogScan(log).pages.isEmpty
    }

    /// `SEEK_DATA` of lseek(2), which unistd.h declares only for `_GNU_SOURCE`.
    #if canImport(Darwin)
        private static let seekData: Int32 = 4
    #else
        private static let seekData: Int32 = 3
    #endif

    /// Where the data of a sparse file goes on: the first offset from one on that is not in a hole, or this one if the file system does not
    /// tell; nil if only a hole follows, or nothing.
    static func data(_ descriptor: Int32, from offset: Int) -> Int? {
        let found = lseek(descriptor, off_t(offset), seekData)
        if found < 0 { return errno == ENXIO ? nil : offset }
        return max(Int(found), offset)
    }

    /// Reads bytes at an offset; nil unless all are there.
    static func read(_ descriptor: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
        guard descriptor >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, count, off_t(offset))
        }
        return read == count ? bytes : nil
    }
}

extension LogScan {
    /// The checksum of a log up to some frame.
    private struct Checksum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        init() {}

        /// Reads a stored checksum of eight bytes.
        init(stored bytes: ArraySlice<UInt8>) {
            first = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
            second = bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// The checksum after some more bytes, a multiple of eight.
        func adding(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Checksum {
            var sum = self
            let count = bytes.count
            unsafe bytes.withUnsafeBytes { buffer in
                for offset in stride(from: 0, to: count - 7, by: 8) {
                    let one = unsafe buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                    let other = unsafe buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    sum.first &+= (isBigEndian ? one.bigEndian : one.littleEndian) &+ sum.second
                    sum.second &+= (isBigEndian ? other.bigEndian : other.littleEndian) &+ sum.first
                }
            }
            return sum
        }
    }
}
