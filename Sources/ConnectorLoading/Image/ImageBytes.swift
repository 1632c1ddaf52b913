// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A private copy of a file, read on demand, which no other process can change or truncate.
///
/// The file is read, not mapped: if a mapped file is truncated, as when it is overwritten in place, the process dies of
/// SIGBUS. Every accessor returns nil outside the file, so parsers need no bounds checks. Not thread-safe: use it on
/// one thread at a time.
@safe
package final class ImageBytes {
    /// The greatest size of a file, in bytes; no plugin is larger.
    package static let sizeLimit = 512 << 20

    /// The path as the user named it, for messages.
    package let path: String
    /// The file's size when it was opened, in bytes.
    package let count: Int
    /// The stamp of the file when it was opened.
    package let stamp: FileStamp
    /// The copy, of which `available` bytes are filled in.
    private var storage: UnsafeMutableRawPointer
    private var available: Int
    /// What the copy's memory is part of.
    private var memory: Memory
    /// The open descriptor until the whole file is read, then -1.
    private var descriptor: Int32

    /// What memory is part of.
    private enum Memory {
        /// A buffer that goes back to ``ReadBuffer``.
        case buffer
        case heap
        /// A mapping of a sealed file.
        case mapping
    }

    /// Opens a file and reads its first part.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The maximum size, in bytes.
    /// - Throws: `not-found`, `unreadable` (no permission, a directory, a pipe) or `too-large`.
    package convenience init(path: String, limit: Int = ImageBytes.sizeLimit) throws(ConnectorError) {
        self.init(try OpenFile(path: path, limit: limit), path: path)
    }

    /// Opens a file that somebody has named: the error for a missing one says which was probably meant.
    ///
    /// - Throws: As ``init(path:limit:)``.
    package convenience init(named path: String, limit: Int = ImageBytes.sizeLimit) throws(ConnectorError) {
        self.init(try OpenFile.named(path, limit: limit), path: path)
    }

    /// Opens a file that is examined as if it were at another path.
    ///
    /// - Throws: As ``init(path:limit:)``.
    package convenience init(path: String, shownAs other: String) throws(ConnectorError) {
        self.init(try OpenFile(path: path, limit: ImageBytes.sizeLimit), path: other)
    }

    /// Reads an open file, through a duplicate of its descriptor.
    ///
    /// - Throws: As ``init(path:limit:)``.
    package convenience init(descriptor: Int32, path: String) throws(ConnectorError) {
        self.init(try OpenFile(adopting: fcntl(descriptor, F_DUPFD_CLOEXEC, 3), path: path), path: path)
    }

    private init(_ file: consuming OpenFile, path: String) {
        self.path = path
        count = file.stamp.size
        stamp = file.stamp
        let size = min(count, ReadBuffer.size)
        // Enough for the headers, the notes, and all of a small plugin.
        unsafe storage = ReadBuffer.take()
        memory = .buffer
        available = unsafe file.read(into: storage, from: 0, upTo: size)
        descriptor = file.take()
        if available == count || available < size { closeFile() }
    }

    /// Creates a file image from bytes in memory.
    package init(copying bytes: [UInt8], path: String) {
        self.path = path
        count = bytes.count
        available = bytes.count
        stamp = FileStamp(size: bytes.count)
        descriptor = -1
        unsafe storage = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
        memory = .heap
        unsafe UnsafeMutableRawBufferPointer(start: storage, count: bytes.count).copyBytes(from: bytes)
    }

    /// Maps a file in memory that is sealed against changes, so that only what is read of it counts for this process.
    ///
    /// - Returns: Nil if it is empty, or cannot be mapped.
    package init?(sealed descriptor: Int32, path: String) {
        guard let stamp = FileStamp(descriptor: descriptor), stamp.size > 0 else { return nil }
        // MAP_PRIVATE, because older kernels refuse a shared mapping of a file that is sealed against writing.
        let address = unsafe mmap(nil, stamp.size, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { return nil }
        self.path = path
        self.stamp = stamp
        count = stamp.size
        available = stamp.size
        unsafe storage = address
        memory = .mapping
        self.descriptor = -1
    }

    deinit {
        closeFile()
        releaseStorage()
    }

    private func releaseStorage() {
        switch memory {
        case .buffer: unsafe ReadBuffer.give(storage)
        case .heap: unsafe storage.deallocate()
        case .mapping: unsafe munmap(storage, count)
        }
    }

    /// Whether the whole file has been read.
    package var isWhole: Bool { available == count }

    /// Reads the rest of the file.
    ///
    /// - Returns: Whether all bytes could be read; false if the file was truncated, written to since its first part was
    ///   read, or cannot be read.
    package func readAll() -> Bool {
        if descriptor >= 0 {
            let whole = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
            unsafe whole.copyMemory(from: storage, byteCount: available)
            releaseStorage()
            unsafe storage = whole
            memory = .heap
            let file = OpenFile(adopting: descriptor, stamp: stamp)
            available += unsafe file.read(into: storage + available, from: available, upTo: count - available)
            descriptor = file.take()
            // Not the time of the last change to the metadata: a new file that is renamed over this one changes that, too.
            if FileStamp(descriptor: descriptor)?.modified != stamp.modified { available = 0 }
            closeFile()
        }
        return available == count
    }

    private func closeFile() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// A copy of a range of the file; nil if the range is not inside it.
    package func copy(at offset: Int, count length: Int) -> [UInt8]? {
        guard contains(offset, length) else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: storage + offset, count: length))
    }

    /// Runs a closure on the whole file; returns nil if it cannot be read to its end.
    package func withAllBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard readAll() else { return nil }
        return try unsafe body(UnsafeRawBufferPointer(start: storage, count: count))
    }

    /// The integer at an offset, without byte swapping; nil outside the file.
    package func integer<Integer: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Integer.Type)
        -> Integer?
    {
        guard contains(offset, MemoryLayout<Integer>.size) else { return nil }
        return unsafe storage.loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// Whether a range is inside the file and could be read.
    package func contains(_ offset: Int, _ length: Int) -> Bool {
        guard offset >= 0, length >= 0, length <= count, offset <= count - length else { return false }
        return offset + length <= available || (descriptor >= 0 && readAll())
    }
}

/// Strings in a file.
extension ImageBytes {
    /// The string from an offset up to the next NUL; nil if there is no NUL within the limit. Invalid UTF-8 is
    /// repaired.
    package func text(at offset: Int, limit: Int = 4096) -> String? {
        guard offset >= 0, offset < count else { return nil }
        let most = min(limit, count - offset)
        guard contains(offset, most) else { return nil }
        let length = unsafe strnlen((storage + offset).assumingMemoryBound(to: CChar.self), most)
        guard length < most else { return nil }
        return unsafe String(decoding: UnsafeRawBufferPointer(start: storage + offset, count: length), as: UTF8.self)
    }

    /// Runs a closure on the string at an offset, as a C string and as bytes without the NUL; does nothing if there is
    /// no NUL within 4096 bytes.
    package func withText(at offset: Int, _ body: (UnsafePointer<CChar>, Span<UInt8>) -> Void) {
        guard offset >= 0, offset < count else { return }
        let most = min(4096, count - offset)
        guard contains(offset, most) else { return }
        let text = unsafe UnsafePointer<CChar>((storage + offset).assumingMemoryBound(to: CChar.self))
        let length = unsafe strnlen(text, most)
        guard length < most else { return }
        let bytes = unsafe UnsafeBufferPointer(
            start: (storage + offset).assumingMemoryBound(to: UInt8.self),
            count: length
        )
        unsafe body(text, bytes.span)
    }

    /// Whether the bytes at an offset are these, followed by a NUL.
    package func hasText(_ text: Span<UInt8>, at offset: Int) -> Bool {
        guard offset >= 0, contains(offset, text.count + 1) else { return false }
        return unsafe text.withUnsafeBytes { expected in
            unsafe memcmp(storage + offset, expected.baseAddress ?? UnsafeRawPointer(storage), expected.count) == 0
                && storage.load(fromByteOffset: offset + expected.count, as: UInt8.self) == 0
        }
    }
}
