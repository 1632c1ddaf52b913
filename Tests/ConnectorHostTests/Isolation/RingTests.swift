// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorIsolation
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#endif

/// Rings in shared memory: what arrives, who waits, and what a hostile other side can do.
@Suite(.timeLimit(.minutes(1))) struct RingTests {
    static func ring(_ capacity: Int = 64) throws -> RingMemory {
        let memory = try #require(SharedMemory(size: RingMemory.size(capacity: capacity)))
        return RingMemory(memory, at: 0, capacity: capacity)
    }

    static func read(_ reader: RingReader, _ most: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = unsafe try bytes.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
        return Array(bytes[..<count])
    }

    static func write(_ writer: RingWriter, _ bytes: [UInt8]) throws -> Int {
        unsafe try bytes.withUnsafeBytes { unsafe try writer.write($0) }
    }

    @Test func `bytes arrive in order across the end of the ring`() throws {
        let ring = try Self.ring()
        let (writer, reader) = (RingWriter(ring), RingReader(ring))
        var (sent, seen): ([UInt8], [UInt8]) = ([], [])
        var next: UInt8 = 0
        for size in (1...40).flatMap({ [$0, 64 - $0] }) {
            let bytes = (0..<size).map { _ in
                next &+= 1
                return next
            }
            #expect(try Self.write(writer, bytes) == size)
            sent += bytes
            // In two pieces, so that every offset is the beginning of one.
            seen += try Self.read(reader, size / 2)
            seen += try Self.read(reader, 64)
        }
        #expect(seen == sent)
        #expect(try Self.read(reader, 64) == [])
    }

    @Test func `a ring takes only what it has room for, and asks for more room`() throws {
        let ring = try Self.ring()
        let counter = Mutex(0)
        let (writer, reader) = (RingWriter(ring), RingReader(ring, onRoom: { counter.withLock { $0 += 1 } }))
        #expect(try Self.write(writer, Array(repeating: 1, count: 50)) == 50)
        #expect(try Self.write(writer, Array(repeating: 2, count: 50)) == 14)
        #expect(try Self.write(writer, [3]) == 0)
        #expect(try !writer.askForRoom())
        #expect(try Self.read(reader, 10).count == 10)
        #expect(counter.withLock(\.self) == 1)
        #expect(try writer.askForRoom())
        #expect(try Self.read(reader, 10).count == 10)
        #expect(counter.withLock(\.self) == 1)
    }

    @Test func `a full ring overwrites nothing, however much is written`() throws {
        let ring = try Self.ring()
        let (writer, reader) = (RingWriter(ring), RingReader(ring))
        #expect(try Self.write(writer, Array(repeating: 1, count: 64)) == 64)
        for _ in 0..<3 { #expect(try Self.write(writer, Array(repeating: 2, count: 200)) == 0) }
        #expect(try Self.read(reader, 200) == Array(repeating: 1, count: 64))
        #expect(try Self.read(reader, 200) == [])
    }

    @Test func `the writer knows that a message in the ring, or the rest of a long one, has not been taken`() throws {
        let ring = try Self.ring()
        let (writer, reader) = (RingWriter(ring), RingReader(ring))
        #expect(try Self.write(writer, Array(repeating: 1, count: 20)) == 20)
        #expect(!writer.mayBeTaken(last: 20))
        #expect(try Self.read(reader, 1).count == 1)
        #expect(writer.mayBeTaken(last: 20))
        #expect(try Self.read(reader, 19).count == 19)
        #expect(try Self.write(writer, Array(repeating: 2, count: 100)) == 64)
        #expect(!writer.mayBeTaken(last: 100))
        #expect(try Self.read(reader, 64).count == 64)
        #expect(try Self.write(writer, Array(repeating: 2, count: 36)) == 36)
        #expect(writer.mayBeTaken(last: 100))
    }

    /// As when a plugin fills the memory with zeros: both positions are within one capacity of the other side's.
    @Test func `a position that goes back is refused by either side`() throws {
        let ring = try Self.ring()
        let (writer, reader) = (RingWriter(ring), RingReader(ring))
        #expect(try Self.write(writer, Array(repeating: 1, count: 20)) == 20)
        #expect(try Self.read(reader, 10).count == 10)
        #expect(try Self.write(writer, [1]) == 1)
        #expect(try Self.read(reader, 1).count == 1)
        unsafe ring.head.pointee.store(0, ordering: .sequentiallyConsistent)
        unsafe ring.tail.pointee.store(15, ordering: .sequentiallyConsistent)
        #expect(throws: ConnectorError.self) { try Self.write(writer, [2]) }
        #expect(throws: ConnectorError.self) { try Self.read(reader, 1) }
        // Such a message may be taken, or not.
        #expect(writer.mayBeTaken(last: 1))
    }

    #if os(Linux)
        @Test func `memory of another size, or without seals, is not mapped, and nobody can shrink it`() throws {
            let size = RingMemory.size(capacity: 4096)
            let memory = try #require(SharedMemory(size: size))
            func copy() -> OwnedDescriptor { OwnedDescriptor(OwnedDescriptor.duplicate(memory.descriptor)) }
            let whole = SharedMemory(copy(), size: size), larger = SharedMemory(copy(), size: size + 4096)
            #expect(whole != nil && larger == nil)
            for other in [0, 4096, size + 4096] {
                #expect(ftruncate(memory.descriptor, off_t(other)) == -1 && errno == EPERM)
            }
            // A file has the size, and no seals.
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let path = try directory.write("file", [UInt8](repeating: 0, count: size))
            let file = unsafe open(path, O_RDWR | O_CLOEXEC)
            try #require(file >= 0)
            let unsealed = SharedMemory(OwnedDescriptor(file), size: size)
            #expect(unsealed == nil)
        }
    #endif

    @Test func `a megabyte passes through a small ring while both sides wait for each other`() async throws {
        let ring = try Self.ring(4096)
        let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let done = OneShot<Bool>()
        #expect(
            HostThread.start("test-write") {
                let writer = RingWriter(ring)
                let isWritten = unsafe bytes.withUnsafeBytes { bytes in
                    unsafe (try? writer.writeAll(bytes)) != nil
                }
                done.send(isWritten)
            }
        )
        let reader = RingReader(ring)
        var seen: [UInt8] = []
        while seen.count < bytes.count {
            let piece = try Self.read(reader, 1000)
            seen += piece
            if piece.isEmpty { try reader.wait() }
        }
        #expect(seen == bytes)
        #expect(await done.wait())
    }

    /// Each side sleeps after every message, as often as it can: a wake-up that is lost hangs the test.
    @Test func `no wake-up is lost in fifty thousand turns`() async throws {
        let (there, back) = (try Self.ring(), try Self.ring())
        let turns = 50_000
        let done = OneShot<Bool>()
        #expect(
            HostThread.start("test-echo") {
                let (reader, writer) = (RingReader(there), RingWriter(back))
                var seen = 0
                while seen < turns, let bytes = try? Self.read(reader, 8) {
                    seen += bytes.count
                    if bytes.isEmpty { try? reader.wait() } else { _ = try? Self.write(writer, bytes) }
                }
                done.send(seen == turns)
            }
        )
        let (writer, reader) = (RingWriter(there), RingReader(back))
        for turn in 0..<turns {
            #expect(try Self.write(writer, [UInt8(truncatingIfNeeded: turn)]) == 1)
            var answer: [UInt8] = []
            while answer.isEmpty {
                answer = try Self.read(reader, 8)
                if answer.isEmpty { try reader.wait() }
            }
            guard answer == [UInt8(truncatingIfNeeded: turn)] else {
                Issue.record("turn \(turn) has \(answer)")
                return
            }
        }
        #expect(await done.wait())
    }

    @Test(.enabled(if: RingSpin.isUseful)) func `spinning in vain grows shorter, and is long again now and then`() {
        var spin = RingSpin()
        let counts = (0..<40).map { _ in
            var count = 0
            #expect(
                !spin.spin {
                    count += 1
                    return false
                }
            )
            return count
        }
        #expect(counts.prefix(5) == [256, 128, 64, 32, 16])
        #expect(counts.enumerated().filter { $0.element == 1024 }.map(\.offset) == [16, 33])
        // What is there at once is seen at once, and ends the row of sleeps.
        #expect(spin.spin { true })
    }

    @Test(arguments: [65, 1 << 40, UInt64.max]) func `an impossible position of the writer is refused`(
        _ position: UInt64
    ) throws {
        let ring = try Self.ring()
        let reader = RingReader(ring)
        unsafe ring.tail.pointee.store(position, ordering: .relaxed)
        let error = #expect(throws: ConnectorError.self) { try Self.read(reader, 64) }
        #expect(error?.code == .protocolViolation)
    }

    @Test(arguments: [1, 1 << 40, UInt64.max - 64]) func `an impossible position of the reader is refused`(
        _ position: UInt64
    ) throws {
        let ring = try Self.ring()
        let writer = RingWriter(ring)
        unsafe ring.head.pointee.store(position, ordering: .relaxed)
        let error = #expect(throws: ConnectorError.self) { try Self.write(writer, [1]) }
        #expect(error?.code == .protocolViolation)
    }

    @Test func `overwriting this side's own position from the other side has no effect`() throws {
        let ring = try Self.ring()
        let (writer, reader) = (RingWriter(ring), RingReader(ring))
        #expect(try Self.write(writer, [1, 2, 3]) == 3)
        #expect(try Self.read(reader, 2) == [1, 2])
        // The writer scribbles over the reader's position, and the reader reads on where it was.
        unsafe ring.head.pointee.store(77, ordering: .relaxed)
        #expect(try Self.read(reader, 2) == [3])
        unsafe ring.tail.pointee.store(99, ordering: .relaxed)
        unsafe ring.head.pointee.store(3, ordering: .relaxed)
        #expect(try Self.write(writer, [4]) == 1)
        #expect(try Self.read(reader, 2) == [4])
    }

    @Test func `a waiting thread is woken when its peer is gone, even if the mark of a sleeper is set again`()
        async throws
    {
        let ring = try Self.ring()
        let isOver = Mutex(false)
        let (waits, done) = (OneShot<Void>(), OneShot<Void>())
        let reader = RingReader(ring)
        #expect(
            HostThread.start("test-wait") {
                waits.send(())
                while !isOver.withLock(\.self) { try? reader.wait(unless: { isOver.withLock(\.self) }) }
                done.send(())
            }
        )
        await waits.wait()
        // As a process that has inherited the memory might.
        unsafe ring.readerSleeps.pointee.store(1, ordering: .sequentiallyConsistent)
        isOver.withLock { $0 = true }
        while done.value == nil {
            reader.wake()
            try await Task.checkedYield()
        }
    }

    /// The other side rewrites positions, marks and bytes while this side reads and writes.
    @Test func `memory that is rewritten while it is read causes an error at worst`() async throws {
        let (there, back) = (try Self.ring(256), try Self.ring(256))
        let isOver = Mutex(false)
        let done = OneShot<Void>()
        #expect(
            HostThread.start("test-hostile") {
                var generator = SeededGenerator(seed: 20)
                while !isOver.withLock(\.self) {
                    let lie = Bool.random(using: &generator) ? UInt64.random(in: 0...300, using: &generator) : .max
                    unsafe there.tail.pointee.store(lie, ordering: .relaxed)
                    unsafe back.head.pointee.store(lie, ordering: .relaxed)
                    unsafe there.writerSleeps.pointee.store(1, ordering: .relaxed)
                    let frame = FrameHeader.frame(.pong, instance: 1, Array(repeating: 0xFF, count: 20))
                    unsafe frame.withUnsafeBytes { unsafe there.store($0, at: lie) }
                }
                done.send(())
            }
        )
        for _ in 0..<20_000 {
            var assembler = FrameAssembler()
            let (reader, writer) = (RingReader(there), RingWriter(back))
            do {
                let bytes = try Self.read(reader, 256)
                #expect(bytes.count <= 256)
                unsafe try bytes.withUnsafeBytes { unsafe try assembler.add($0, nil) }
                while let frame = try assembler.next() { #expect(frame.payload.count <= 256) }
                #expect(try Self.write(writer, bytes) <= 256)
            } catch let error as ConnectorError {
                #expect(error.code == .protocolViolation)
            }
        }
        isOver.withLock { $0 = true }
        await done.wait()
    }
}
