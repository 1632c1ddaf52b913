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

/// A volume with little space, which the files of the outbox alone fill.
@Suite(.timeLimit(.minutes(5))) struct VolumeTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// What the files leave of a volume of some bytes; negative if they would not fit.
    private func free(of size: Int64) -> Int64 { Self.free(of: size, folder) }

    private static func free(of size: Int64, _ folder: Folder) -> Int64 {
        folder.names.reduce(size) { left, name in
            var status = stat()
            return unsafe lstat("\(folder.path)/\(name)", &status) == 0 ? left - Int64(status.st_size) : left
        }
    }

    private func engine(_ size: Int64) async throws(ConnectorError) -> SQLiteEngine {
        try await SQLiteEngine(
            directory: folder.path,
            space: { [folder] _ in VolumeSpace(free: max(0, Self.free(of: size, folder)), size: size) },
            now: { OutboxEvent.start },
            onDamage: { _, _ in }
        )
    }

    /// Stores events until one is refused.
    ///
    /// - Returns: How many were stored.
    private func fill(_ engine: SQLiteEngine, from first: Int, bytes: Int) async throws -> Int {
        for start in stride(from: first, to: first + 1_000_000, by: 50) {
            do throws(ConnectorError) {
                let events = (start..<start + 50).map { OutboxEvent.numbered($0, bytes: bytes) }
                _ = try await engine.append(events, to: ["a"])
            } catch {
                #expect(error.code == .storage)
                #expect(error.fix?.hasPrefix("free space on the disk of \(folder.path)") == true, "\(error)")
                return start - first
            }
        }
        return 1_000_000
    }

    /// Sizes of payloads: many to a page, one to a page, several pages each.
    @Test(arguments: [200, 5000, 20_000], [false, true])
    func `a volume that new events have filled has room for delivering or dropping them, and takes others then`(
        bytes: Int,
        isDropping: Bool
    ) async throws {
        let size: Int64 = 12 << 20
        var engine = try await engine(size)
        var next = 1
        for round in 1...3 {
            let count = try await fill(engine, from: next, bytes: bytes)
            #expect(count > 0, "round \(round)")
            #expect(free(of: size) >= 0, "round \(round)")
            if isDropping {
                #expect(try await engine.drop(RecordSelection(paths: ["a"])) == count)
                #expect(free(of: size) >= 0, "round \(round)")
            } else {
                // A restart takes the log into the file.
                await engine.close()
                #expect(free(of: size) >= 0, "round \(round)")
                engine = try await self.engine(size)
                var delivered = 0
                while true {
                    let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 100), now: OutboxEvent.start)
                    guard !batch.isEmpty else { break }
                    let attempt = Attempt(at: OutboxEvent.start, failures: batch.entries.map { _ in nil })
                    try await engine.settle(batch, batch.entries.map { _ in .delivered }, attempt)
                    delivered += batch.entries.count
                    #expect(free(of: size) >= 0, "round \(round)")
                }
                #expect(delivered == count)
            }
            next += count + 50
        }
        await engine.close()
        #expect(free(of: size) >= 0)
    }

    @Test func `a measurement of plenty of space holds for other transactions, and not for long`() throws {
        let time = Mutex<UInt64>(1), free = Mutex<Int64>(1 << 40)
        let reserve = VolumeReserve("\(folder.path)/outbox") {
            VolumeSpace(free: free.withLock(\.self), size: 1 << 40)
        } now: {
            time.withLock(\.self)
        }
        var allowance = try #require(reserve.allowance(size: 0, spare: 0))
        #expect(reserve.holds(allowance))
        time.withLock { $0 += 49_999_999 }
        #expect(reserve.holds(allowance))
        time.withLock { $0 += 1 }
        #expect(!reserve.holds(allowance))
        allowance = try #require(reserve.allowance(size: 0, spare: 0))
        try reserve.take(reserve.share - 1, of: &allowance)
        #expect(reserve.holds(allowance))
        try reserve.take(1, of: &allowance)
        #expect(!reserve.holds(allowance))
        free.withLock { $0 = 2 << 30 }
        allowance = try #require(reserve.allowance(size: 0, spare: 0))
        #expect(!reserve.holds(allowance))
    }

    @Test func `an event that finds no room is refused, until a look finds some`() async throws {
        let free = Mutex<Int64>(1 << 30)
        let space: @Sendable (String) -> VolumeSpace? = { _ in
            VolumeSpace(free: free.withLock(\.self), size: 1 << 30)
        }
        let engine = try await SQLiteEngine(
            directory: folder.path,
            space: space,
            now: { OutboxEvent.start },
            onDamage: { _, _ in }
        )
        _ = try await engine.append([.numbered(1)], to: ["a"])
        free.withLock { $0 = 1 << 20 }
        // Nothing was refused so far.
        try await engine.check(["a"])
        for number in 2...3 {
            let error = await #expect(throws: ConnectorError.self) {
                try await engine.append([.numbered(number)], to: ["a"])
            }
            #expect(error?.code == .storage && error?.isRetryable == true)
            let found = await #expect(throws: ConnectorError.self) { try await engine.check(["a"]) }
            #expect(found?.code == .storage)
        }
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        let step = try await engine.settle(batch, [.delivered], Attempt(at: OutboxEvent.start, failures: [nil]))
        #expect(step.isApplied == [true])
        free.withLock { $0 = 1 << 30 }
        try await engine.check(["a"])
        #expect(try await engine.append([.numbered(4)], to: ["a"]).isApplied == [true])
        await engine.close()
    }

    @Test func `the system tells the space of a directory, and of none that is not there`() throws {
        let space = try #require(VolumeSpace(of: folder.path))
        #expect(space.size > 0 && space.free >= 0 && space.free <= space.size)
        #expect(VolumeSpace(of: folder.path + "/none") == nil)
    }
}
