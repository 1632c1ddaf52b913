// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
package import ConnectorBase
internal import Synchronization

/// A ring of bytes in shared memory, for one ``RingWriter`` and one ``RingReader``, usually in two processes.
///
/// It carries the stream of bytes that a socket would: frames of any size pass through it in pieces, in order. Neither process
/// holds a lock that the other one needs.
///
/// | word | who stores it | what it is |
/// |---|---|---|
/// | `tail` | the writer | how many bytes were ever written |
/// | `head` | the reader | how many bytes were ever read |
/// | `readerSleeps` | the reader 1, then whoever wakes it 0 | the reader's futex |
/// | `writerSleeps` | the writer 1, then whoever wakes it 0 | the writer's futex |
/// | `withdrawn` | the writer | up to where it has given up what it wrote |
///
/// Each side keeps its own position in its own memory and only publishes it, so nothing that the other side writes moves it. The
/// other side's position is loaded once, and refused unless the two are at most one capacity apart, and it has not gone back. So every
/// offset used is this side's own, and that check bounds every length, whatever the other side writes meanwhile.
///
/// **Bytes.** The writer copies bytes, then stores `tail`; the reader loads `tail`, then copies them. The reader copies bytes out,
/// then stores `head`; the writer loads `head`, then overwrites them. Each store releases and each load acquires, so each copy
/// happens before the other side's.
///
/// **No wake-up is lost.** Both stores of a position and all accesses of the futex words are sequentially consistent:
///
/// 1. The reader stores `readerSleeps = 1`, then loads `tail`. If it has moved, the reader does not sleep.
/// 2. The writer stores `tail`, then loads `readerSleeps`. If it is 1, the writer exchanges it for 0, and wakes.
///
/// In the one order of these four accesses, either the store of `tail` comes before the reader's load, and the reader sees the bytes;
/// or the store of 1 comes before the writer's load, and the writer wakes. The kernel compares the word with 1 under its own lock
/// before it puts the reader to sleep, so a wake-up between load and sleep is not lost either: the word is 0 by then. Room is
/// reported in the same way, with `head` and `writerSleeps`. Only whoever exchanges 1 for 0 makes the system call.
///
/// **What is withdrawn is not acted on.** The writer stores `withdrawn`, then loads `head`; the reader stores `head`, then loads
/// `withdrawn`. All four accesses are sequentially consistent, so if a writer then finds that the end of a message is untaken, the reader
/// that takes it later finds the message withdrawn.
///
/// A reader that waits while its peer dies is woken by its own process: see ``RingReader/wake()``.
@safe
package struct RingMemory: @unchecked Sendable {
    // Sendable: the addresses are constant, and the memory is retained. Each word and byte has one owner, as above.

    /// Each word has two cache lines of its own, because some processors fetch lines in pairs.
    private static let stride = 128
    private let memory: SharedMemory
    private let start: UnsafeMutableRawPointer
    /// How many bytes fit, a power of two.
    package let capacity: Int

    /// A copy is published at each multiple of this many bytes, so that the other side, if it is looking, copies at the same time. A
    /// sleeping side is woken only at the end, so that two sides that share a processor do not take turns for each piece.
    private static let piece: UInt64 = 16 << 10

    /// How many bytes to copy at a position before it is published. The pieces of both sides end at the same positions; otherwise one
    /// side would wait again for the remainder of the other's last piece.
    static func pieceCount(at position: UInt64) -> Int { Int(piece - position % piece) }

    /// How many bytes of shared memory a ring takes; a multiple of the page size if the capacity is.
    package static func size(capacity: Int) -> Int { 4096 + capacity }

    /// Describes a ring in memory that is filled with zeros, or in use.
    ///
    /// - Parameters:
    ///   - offset: Where it begins, a multiple of 4096.
    ///   - capacity: How many bytes fit, a power of two.
    package init(_ memory: SharedMemory, at offset: Int, capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0)
        self.memory = memory
        unsafe start = memory.address + offset
        self.capacity = capacity
    }

    private func position(_ line: Int) -> UnsafePointer<Atomic<UInt64>> {
        unsafe UnsafePointer((start + line * Self.stride).assumingMemoryBound(to: Atomic<UInt64>.self))
    }

    private func word(_ line: Int) -> UnsafePointer<Atomic<UInt32>> {
        unsafe UnsafePointer((start + line * Self.stride).assumingMemoryBound(to: Atomic<UInt32>.self))
    }

    /// How many bytes were ever written.
    var tail: UnsafePointer<Atomic<UInt64>> { unsafe position(0) }
    /// How many bytes were ever read.
    var head: UnsafePointer<Atomic<UInt64>> { unsafe position(1) }
    /// 1 while the reader sleeps.
    var readerSleeps: UnsafePointer<Atomic<UInt32>> { unsafe word(2) }
    /// 1 while the writer sleeps, or wants to be told of room.
    var writerSleeps: UnsafePointer<Atomic<UInt32>> { unsafe word(3) }
    /// How many bytes were written before the writer gave up what it had written.
    var withdrawn: UnsafePointer<Atomic<UInt64>> { unsafe position(4) }

    /// Copies bytes into the ring.
    ///
    /// - Parameter position: The writer's position.
    func store(_ bytes: UnsafeRawBufferPointer, at position: UInt64) {
        guard let source = bytes.baseAddress else { return }
        let (offset, first) = split(bytes.count, position)
        let data = unsafe start + 4096
        unsafe (data + offset).copyMemory(from: source, byteCount: first)
        if first < bytes.count { unsafe data.copyMemory(from: source + first, byteCount: bytes.count - first) }
    }

    /// Copies bytes out of the ring.
    ///
    /// - Parameter position: The reader's position.
    func load(into bytes: UnsafeMutableRawBufferPointer, at position: UInt64) {
        guard let target = bytes.baseAddress else { return }
        let (offset, first) = split(bytes.count, position)
        let data = unsafe start + 4096
        unsafe target.copyMemory(from: data + offset, byteCount: first)
        if first < bytes.count { unsafe (target + first).copyMemory(from: data, byteCount: bytes.count - first) }
    }

    /// The offset of a position, and how many of the bytes lie before the end of the ring.
    private func split(_ count: Int, _ position: UInt64) -> (offset: Int, first: Int) {
        let offset = Int(truncatingIfNeeded: position) & (capacity - 1)
        return (offset, min(count, capacity - offset))
    }

    /// Wakes the thread that sleeps on a word, if there is one. Costs one load if there is none.
    static func wake(_ word: UnsafePointer<Atomic<UInt32>>) {
        guard unsafe take(word) else { return }
        _ = unsafe runner_wake(word)
    }

    /// Clears a sleeper's mark; false if there is none.
    static func take(_ word: UnsafePointer<Atomic<UInt32>>) -> Bool {
        unsafe word.pointee.load(ordering: .sequentiallyConsistent) != 0
            && word.pointee.exchange(0, ordering: .sequentiallyConsistent) != 0
    }

    /// The error for an impossible position; its writer is no longer trusted.
    package static var corrupt: ConnectorError {
        ConnectorError(.protocolViolation, "a position in the memory that host and runner share is impossible")
    }

    /// Whether this process can wake others, found by trying.
    package var canWake: Bool { unsafe runner_wake(readerSleeps) >= 0 }
}
