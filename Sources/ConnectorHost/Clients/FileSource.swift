// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The content to put: bytes, a sequence of pieces, or a local file.
public struct FileSource: Sendable {
    /// Returns the next piece; nil at the end.
    typealias Pieces = () async throws(ConnectorError) -> [UInt8]?

    /// Whether the content can be read again from its beginning.
    let isRepeatable: Bool
    private let begin: @Sendable (WorkerThreads) async throws(ConnectorError) -> (pieces: Pieces, size: UInt64?)

    /// Bytes in memory.
    public static func bytes(_ bytes: [UInt8]) -> FileSource {
        FileSource(isRepeatable: true) { _ throws(ConnectorError) in
            var rest: [UInt8]? = bytes
            return ({ () throws(ConnectorError) in rest.take() }, UInt64(bytes.count))
        }
    }

    /// Pieces of any size, in the order of a sequence.
    ///
    /// An error of the sequence fails the put: a `ConnectorError` as it is, with the connector's path if it has none, a
    /// `CancellationError` as `cancelled`, any other error as `failed`.
    public static func pieces<Pieces: AsyncSequence & Sendable>(
        _ sequence: Pieces
    ) -> FileSource where Pieces.Element == [UInt8] {
        FileSource(isRepeatable: false) { _ throws(ConnectorError) in
            var iterator = sequence.makeAsyncIterator()
            return (
                { () throws(ConnectorError) in
                    do {
                        return try await iterator.next(isolation: #isolation)
                    } catch {
                        throw failure(error)
                    }
                }, nil
            )
        }
    }

    /// A local file, read on threads that may block on the disk.
    ///
    /// - Parameter path: The path, absolute or relative to the working directory. The put throws `unreadable` if it
    ///   names no readable file, or if the file changes while it is read. A file without a size of its own, such as one of `/proc`, is
    ///   refused, too: read it, and put its bytes.
    public static func file(_ path: String) -> FileSource {
        FileSource(isRepeatable: true) { workers throws(ConnectorError) in
            let file = try await workers.result { () throws(ConnectorError) in try LocalFile(path) }
            return (
                { () throws(ConnectorError) in
                    try await workers.result { () throws(ConnectorError) in try file.piece() }
                }, file.size
            )
        }
    }

    /// Starts reading.
    func open(_ workers: WorkerThreads) async throws(ConnectorError) -> Reader {
        let (pieces, size) = try await begin(workers)
        return Reader(size: size, pieces: pieces)
    }

    /// Reads everything into memory.
    ///
    /// - Throws: `cancelled` if the task was cancelled, because a sequence may then have ended early.
    package func collect(_ workers: WorkerThreads = WorkerThreads()) async throws(ConnectorError) -> [UInt8] {
        let pieces = try await begin(workers).pieces
        var bytes: [UInt8] = []
        while let piece = try await pieces() { bytes += piece }
        guard !Task.isCancelled else { throw ConnectorError(.cancelled, "the task was cancelled") }
        return bytes
    }

    private static func failure(_ error: any Error) -> ConnectorError {
        switch error {
        case let error as ConnectorError: error
        case is CancellationError: ConnectorError(.cancelled, "the content ended because the task was cancelled")
        default:
            ConnectorError(
                .failed,
                "the content could not be read to its end: \(error)",
                fix: "put it again from its beginning, once the sequence gives all of it"
            )
        }
    }

    /// Regroups pieces into parts of one size.
    struct Reader {
        /// The size of the whole content in bytes; nil if unknown.
        let size: UInt64?
        private let pieces: Pieces
        private var rest: ArraySlice<UInt8> = []

        init(size: UInt64?, pieces: @escaping Pieces) {
            self.size = size
            self.pieces = pieces
        }

        /// Returns the next part, which has `size` bytes unless it is the last; nil at the end.
        mutating func part(of size: Int) async throws(ConnectorError) -> [UInt8]? {
            var part: [UInt8] = []
            while part.count < size {
                if rest.isEmpty {
                    guard let piece = try await pieces() else { break }
                    rest = piece[...]
                }
                let piece = rest.prefix(size - part.count)
                rest = rest.dropFirst(piece.count)
                part += piece
            }
            return part.isEmpty ? nil : part
        }
    }
}

/// An open local file, used by one thread at a time. It is read to the size that it has when it is opened.
private final class LocalFile: Sendable {
    private let path: String
    private let descriptor: Int32
    /// The state of the file when it was opened.
    private let stamp: FileStamp
    /// How many bytes have been read.
    private let position = Atomic<UInt64>(0)

    /// The size of the pieces, in bytes.
    private static let pieceSize = 1 << 20

    init(_ path: String) throws(ConnectorError) {
        try path.checkPath("the file to put", .unreadable)
        // `O_NONBLOCK` keeps `open` from waiting for the other end of a pipe.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0, let stamp = FileStamp(descriptor: descriptor) else {
            let error = SystemError()
            if descriptor >= 0 { close(descriptor) }
            throw Self.failure(path, error)
        }
        guard stamp.kind == UInt32(S_IFREG) else {
            close(descriptor)
            throw ConnectorError(
                .unreadable,
                "\(path.excerpt) is not a file",
                fix: "give the path of a regular file, or read what there is and put its bytes"
            )
        }
        (self.path, self.descriptor, self.stamp) = (path, descriptor, stamp)
    }

    deinit {
        close(descriptor)
    }

    /// The size in bytes.
    var size: UInt64 { UInt64(clamping: stamp.size) }

    /// Reads the next piece; nil at the end.
    ///
    /// - Throws: `unreadable` if the file ends before its size or goes on after it, or if it has been written.
    func piece() throws(ConnectorError) -> [UInt8]? {
        let rest = size - position.load(ordering: .relaxed)
        guard rest > 0 else {
            guard try bytes(upTo: 1).isEmpty, let now = FileStamp(descriptor: descriptor),
                (now.size, now.modified) == (stamp.size, stamp.modified)
            else { throw changed }
            return nil
        }
        let piece = try bytes(upTo: Int(min(rest, UInt64(Self.pieceSize))))
        guard !piece.isEmpty else { throw changed }
        position.add(UInt64(piece.count), ordering: .relaxed)
        return piece
    }

    private func bytes(upTo limit: Int) throws(ConnectorError) -> [UInt8] {
        var count = 0
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: limit) { target, filled in
            repeat {
                count = unsafe read(descriptor, target.baseAddress, limit)
            } while count < 0 && errno == EINTR
            filled = max(0, count)
        }
        guard count >= 0 else { throw Self.failure(path, SystemError()) }
        return piece
    }

    private var changed: ConnectorError {
        ConnectorError(
            .unreadable,
            "\(path.excerpt) changed while it was read, or does not have the \(size) bytes that its metadata says",
            fix: "put it again once nothing writes to it, or read it and put its bytes",
            isRetryable: true
        )
    }

    private static func failure(_ path: String, _ error: SystemError) -> ConnectorError {
        ConnectorError(
            .unreadable,
            "\(path.excerpt) cannot be read: \(error.text)",
            fix: error.number == ENOENT ? "check the path" : error.openingRemedy,
            cause: error.description
        )
    }
}
