// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The outbox's file, for tests that damage it.
extension Folder {
    /// The path of the outbox's file.
    var file: String { "\(path)/outbox.sqlite" }

    /// The bytes of a file.
    func bytes(_ path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY)
        defer { close(descriptor) }
        return unsafe [UInt8](unsafeUninitializedCapacity: 10_000_000) { buffer, count in
            count = max(0, unsafe read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// Writes bytes into a file, which is created if it does not exist.
    func write(_ bytes: some Collection<UInt8>, to path: String, at offset: Int = 0) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        let bytes = Array(bytes)
        #expect(unsafe pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
        close(descriptor)
    }

    /// Where a text lies in a file; nil if it is not there.
    func offset(of text: String, in path: String) -> Int? {
        let (bytes, text) = (bytes(path), Array(text.utf8))
        guard let first = text.first, bytes.count >= text.count else { return nil }
        return (0...(bytes.count - text.count)).first { start in
            bytes[start] == first && bytes[start..<start + text.count].elementsEqual(text)
        }
    }

    /// Opens the outbox in it.
    func engine(
        onDamage: @escaping @Sendable (_ setAside: String?, _ reason: String) -> Void = { _, _ in }
    ) async throws(ConnectorError) -> SQLiteEngine {
        try await SQLiteEngine(directory: path, now: { OutboxEvent.start }, onDamage: onDamage)
    }

    /// Fills an outbox with waiting events, retries, dead letters and dropped events, and closes it.
    func fill(_ count: Int = 20) async throws {
        let engine = try await engine()
        _ = try await engine.append((1...count).map { .numbered($0, bytes: 200) }, to: ["a", "b"])
        _ = try await engine.append((1001...1010).map { .numbered($0, bytes: 200) }, to: ["a"])
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 6), now: OutboxEvent.start)
        let failure = DeliveryFailure(.unavailable, "away")
        try await engine.settle(
            batch,
            [.delivered, .retry(at: OutboxEvent.start), .dead, .retry(at: OutboxEvent.start), .delivered, .dead],
            Attempt(at: OutboxEvent.start, failures: [nil, failure, failure, failure, nil, failure])
        )
        _ = try await engine.drop(RecordSelection(paths: ["a"], ids: ["event-9"]))
        await engine.close()
    }
}

/// The files that were set aside, nil for those that were lost, and why.
final class Aside: Sendable {
    private let found = Mutex<[(path: String?, reason: String)]>([])

    var all: [(path: String?, reason: String)] { found.withLock(\.self) }
    var paths: [String] { all.compactMap(\.path) }
    /// The reasons of the files that were lost.
    var losses: [String] { all.filter { $0.path == nil }.map(\.reason) }

    func add(_ path: String?, _ reason: String) { found.withLock { $0.append((path, reason)) } }
}
