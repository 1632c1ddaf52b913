// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorDigest

/// The content of a file, in order, in parts of at most 4 MiB: see ``FilesClient/get(_:range:options:progress:)``.
///
/// You may iterate it more than once; each iteration reads the file again.
public struct FileContents: AsyncSequence, Sendable {
    /// A part; never empty.
    public typealias Element = [UInt8]
    /// The error of reading a part: `conflict` if the file has changed since ``entry`` was read, `misbehaved` if the
    /// whole content does not match the entry's digest.
    public typealias Failure = ConnectorError

    /// Reads a part of the file, provided the file still has the entry's tag.
    package typealias Read =
        @Sendable (
            _ entry: FileEntry, _ offset: UInt64, _ count: Int
        ) async throws(ConnectorError) -> [UInt8]

    /// What the store knew about the file when reading began.
    public let entry: FileEntry
    /// The range of bytes to read.
    public let range: Range<UInt64>
    private let progress: (@Sendable (FileProgress) -> Void)?
    private let read: Read

    /// The size of all parts but the last, in bytes.
    private static let partSize: UInt64 = 4 << 20

    /// - Parameters:
    ///   - range: The bytes to read, clamped to the file's size; nil for all.
    ///   - read: Reads one part in full.
    package init(
        entry: FileEntry,
        range: Range<UInt64>?,
        progress: (@Sendable (FileProgress) -> Void)?,
        read: @escaping Read
    ) {
        self.entry = entry
        self.range = (range ?? 0..<entry.size).clamped(to: 0..<entry.size)
        self.progress = progress
        self.read = read
    }

    /// Reads everything into memory.
    ///
    /// - Parameter limit: The maximum number of bytes to read.
    /// - Throws: `too-large` if there are more, before any byte is read; otherwise the errors of reading a part.
    public func collect(upTo limit: Int) async throws(ConnectorError) -> [UInt8] {
        guard let count = Int(exactly: length), count <= limit else {
            throw ConnectorError(
                .tooLarge,
                "\"\(entry.path)\" has \(length) bytes to read; the limit is \(limit)",
                fix: "read it part by part, or raise the limit"
            )
        }
        var bytes: [UInt8] = []
        // The size is what the store says.
        bytes.reserveCapacity(Swift.min(count, Int(Self.partSize)))
        for try await part in self { bytes += part }
        return bytes
    }

    /// The number of bytes to read.
    private var length: UInt64 { range.upperBound - range.lowerBound }

    /// Starts reading at the beginning of the range.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Reads the parts in order.
    public struct Iterator: AsyncIteratorProtocol {
        private let contents: FileContents
        private var offset: UInt64
        private var hash = SHA256()

        init(_ contents: FileContents) {
            self.contents = contents
            offset = contents.range.lowerBound
        }

        /// Reads the next part; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ConnectorError) -> [UInt8]? {
            let range = contents.range
            guard offset < range.upperBound else { return nil }
            let count = Int(Swift.min(FileContents.partSize, range.upperBound - offset))
            let part = try await contents.read(contents.entry, offset, count)
            hash.update(part)
            offset += UInt64(part.count)
            if offset == range.upperBound { try check() }
            contents.progress?(FileProgress(transferred: offset - range.lowerBound, total: contents.length))
            return part
        }

        /// Compares the digest of the whole content with the store's, if the range is the whole file and the store
        /// keeps a digest.
        private func check() throws(ConnectorError) {
            let entry = contents.entry
            guard let digest = entry.digest, contents.range == 0..<entry.size, digest != hash.hexadecimal else {
                return
            }
            throw ConnectorError(
                .misbehaved,
                "the content of \"\(entry.path)\" was damaged: its SHA-256 is \(hash.hexadecimal), and should be \(digest)"
            )
        }
    }
}
