// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// The state of the thread that reads the ring of a runner's messages.
final class RingReading: Sendable {
    private struct State: Sendable {
        var reader: RingReader?
        var isDone = false
    }

    private let state = Monitor(State())
    private let isRunnerGone = Atomic<Bool>(false)
    private let hasBegun = Atomic<Bool>(false)
    private let handled = Atomic<UInt64>(0)

    /// Whether messages come through the ring.
    var isUsed: Bool { hasBegun.load(ordering: .relaxed) }

    /// Whether the runner's process has ended, so that nothing more is written.
    var isOver: Bool { isRunnerGone.load(ordering: .sequentiallyConsistent) }

    /// Begins reading; false if it has already begun.
    func begin(_ reader: RingReader) -> Bool {
        state.withLock { $0.reader = reader }
        return !hasBegun.exchange(true, ordering: .relaxed)
    }

    /// Notes that the thread has read bytes, and handled what they complete.
    func handle(_ count: Int) {
        handled.wrappingAdd(UInt64(count), ordering: .releasing)
    }

    /// Whether the thread has handled everything up to a position of the ring.
    func hasHandled(upTo position: UInt64) -> Bool { handled.load(ordering: .acquiring) >= position }

    /// Wakes the thread: a runner may have been stopped after it wrote, and before it woke the reader.
    func wake() { state.withLock(\.reader)?.wake() }

    /// Notes that the thread has read everything.
    func finish() {
        state.withLock { $0.isDone = true }
        state.signal()
    }

    /// Waits, after the process has ended, until the thread has read what is left.
    func end() {
        isRunnerGone.store(true, ordering: .sequentiallyConsistent)
        guard let reader = state.withLock(\.reader) else { return }
        // Another process may have inherited the memory and set the sleeper's mark again: wake the thread until it is done.
        state.wait { state -> Monitor<State>.Step<Void> in
            guard !state.isDone else { return .proceed(()) }
            reader.wake()
            return .wait(until: SystemTime.monotonic() + 10_000_000)
        }
    }
}

extension Runner {
    /// From now on, sends messages through one ring and reads the runner's from the other, on a thread of its own.
    ///
    /// - Returns: False if it already does, or if the system has no thread.
    func readRing(_ answers: RingMemory, writing requests: RingMemory) -> Bool {
        let reader = RingReader(answers)
        guard ringReading.begin(reader) else { return false }
        outgoing.use(RingWriter(requests))
        let isStarted = makeThread("runner-ring") { [self] in
            do throws(ConnectorError) {
                try read(reader, capacity: answers.capacity)
            } catch {
                stop("it broke the protocol: \(error.message)")
            }
            ringReading.finish()
        }
        if !isStarted { ringReading.finish() }
        return isStarted
    }

    /// Takes messages until the runner has ended, and then those that are left.
    private func read(_ reader: RingReader, capacity: Int) throws(ConnectorError) {
        var assembler = FrameAssembler()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { unsafe buffer.deallocate() }
        // A process that has inherited the memory could keep writing forever.
        var rest = capacity
        while rest > 0 {
            let isOver = ringReading.isOver
            let count = unsafe try reader.read(into: buffer)
            guard count > 0 else {
                if isOver { return }
                try reader.wait(unless: { ringReading.isOver })
                continue
            }
            if isOver { rest -= count }
            unsafe try assembler.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), nil)
            while let frame = try assembler.next() { try take(frame) }
            ringReading.handle(count)
        }
    }
}
