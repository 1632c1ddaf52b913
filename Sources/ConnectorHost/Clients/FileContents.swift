// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorDigest

/// The content of a file in parts of at most 4 MiB, in their order: see ``FilesClient/get(_:range:options:progress:)``.
///
/// It may be consumed more than once; each time reads the file again.
public struct FileContents: AsyncSequence, Sendable {
    /// A part, which is not empty.
    public typealias Element = [UInt8]
    /// What reading a part throws: `conflict` if the file has changed since ``entry`` was read, `misbehaved` if the whole
    /// content does not have the entry's digest.
    public typealias Failure = ConnectorError

    /// Reads a part of the file with an entry's tag.
    package typealias Read =
        @Sendable (
            _ entry: FileEntry, _ offset: UInt64, _ count: Int
        ) async throws(ConnectorError) -> [UInt8]

    /// What the store knew of the file when reading began.
    public let entry: FileEntry
    /// The bytes that are read.
    public let range: Range<UInt64>
    private let progress: (@Sendable (FileProgress) -> Void)?
    private let read: Read

    /// The size of all parts but the last.
    private static let partSize: UInt64 = 4 << 20

    /// - Parameters:
    ///   - range: The bytes to read, as far as the file has them; nil for all.
    ///   - read: Reads a part, all of it.
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
    /// - Parameter limit: The most bytes to take.
    /// - Throws: `too-large` if there are more, before any is read; otherwise as reading a part does.
    public func collect(upTo limit: Int) async throws(ConnectorError) -> [UInt8] {
        guard range.count <= limit else {
            throw ConnectorError(
                .tooLarge,
                "\"\(entry.path)\" has \(range.count) bytes to read; the limit is \(limit)",
                fix: "read it part by part, or raise the limit"
            )
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        for try await part in self { bytes += part }
        return bytes
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Reads one part after the other.
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
            contents.progress?(FileProgress(transferred: offset - range.lowerBound, total: UInt64(range.count)))
            return part
        }

        /// Compares the whole content with the digest that the store keeps.
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
