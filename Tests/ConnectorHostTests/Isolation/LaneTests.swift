// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CRunner
import ConnectorBase
import ConnectorHostTesting
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorIsolation
@testable import ConnectorPlatform

/// Lanes between two threads of this process: what arrives, what a hostile runner can do, and how a caller stops waiting.
@Suite(.timeLimit(.minutes(2))) struct LaneTests {
    /// The runner's end of a lane.
    private static func stream(in memory: SharedMemory) -> LaneStream {
        let rings = CallLane.rings(in: memory)
        return LaneStream(RingReader(rings.calls), RingWriter(rings.answers))
    }

    /// A lane whose other end a body serves, on a thread of its own.
    private static func lane(
        _ clock: any HostClock = ManualHostClock(),
        _ serve: @escaping @Sendable (inout LaneStream) -> Void
    ) throws -> CallLane {
        let memory = try #require(SharedMemory(size: CallLane.size))
        #expect(
            HostThread.start("test-lane") {
                var stream = stream(in: memory)
                serve(&stream)
            }
        )
        return CallLane(memory, clock, patience: 30_000_000_000)
    }

    /// Answers a message with its own words and bytes.
    private static func echo(_ stream: inout LaneStream) {
        while stream.stop == nil {
            stream.receive()
            let word = stream.word()
            var bytes = [UInt8](repeating: 0, count: stream.rest)
            unsafe bytes.withUnsafeMutableBytes { unsafe stream.take(into: $0) }
            stream.begin(count: 8 + bytes.count)
            stream.put(word)
            unsafe bytes.withUnsafeBytes { unsafe stream.put($0) }
            stream.send()
        }
    }

    private static func call(_ lane: CallLane, _ word: UInt64, _ bytes: [UInt8]) -> (UInt64, [UInt8]) {
        lane.stream.begin(count: 8 + bytes.count)
        lane.stream.put(word)
        unsafe bytes.withUnsafeBytes { unsafe lane.stream.put($0) }
        lane.stream.send()
        lane.stream.receive()
        let answer = lane.stream.word()
        var back = [UInt8](repeating: 0, count: lane.stream.rest)
        unsafe back.withUnsafeMutableBytes { unsafe lane.stream.take(into: $0) }
        return (answer, back)
    }

    /// Around the sizes of the buffer, 4 KiB, and of the rings, 64 KiB.
    @Test func `messages of every size arrive unchanged`() throws {
        let lane = try Self.lane { Self.echo(&$0) }
        for size in [0, 1, 7, 4079, 4080, 4081, 4096, 65_519, 65_536, 200_001, 3 << 20] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ size) }
            let (word, back) = Self.call(lane, UInt64(size) &* 3, bytes)
            #expect(lane.stream.stop == nil && lane.stream.rest == 0)
            #expect(word == UInt64(size) &* 3 && back == bytes, "\(size) bytes")
        }
        lane.end()
    }

    /// What a runner that means harm may send.
    private static let harms: [@Sendable (inout LaneStream) -> Void] = [
        // A message that is longer than any may be.
        { $0.begin(count: FrameHeader.limit + 1) },
        { $0.put(UInt64.max) },
        // One that ends before the values that it must have.
        { stream in
            stream.begin(count: 0)
        },
        // Bytes beyond its end.
        { stream in
            stream.begin(count: 8)
            stream.put(1 << 40)
        },
    ]

    @Test(arguments: harms.indices) func `an invalid message stops the lane`(_ harm: Int) throws {
        let lane = try Self.lane { stream in
            stream.receive()
            stream.skip()
            Self.harms[harm](&stream)
            stream.send()
        }
        lane.stream.begin(count: 8)
        lane.stream.put(0)
        lane.stream.send()
        lane.stream.receive()
        let count = lane.stream.count(lane.stream.word())
        #expect(lane.stream.stop == .corrupt && count == 0)
        // Nothing is believed from now on.
        lane.stream.receive()
        #expect(lane.stream.word() == 0)
        lane.end()
    }

    @Test func `a runner that speaks out of turn is noticed by the next call`() throws {
        let lane = try Self.lane { stream in
            stream.receive()
            stream.skip()
            for word in [8, 1, 8, 2] as [UInt64] { stream.put(word) }
            stream.send()
        }
        #expect(Self.call(lane, 0, []).0 == 1)
        #expect(lane.stream.stop == nil)
        lane.stream.requireSilence()
        #expect(lane.stream.stop == .corrupt)
        lane.end()
    }

    @Test func `a caller that waits gives up when its runner has ended`() async throws {
        let lane = try Self.lane { _ in }
        let stop = Task.detached {
            lane.stream.receive()
            return lane.stream.stop
        }
        let ended = OneShot<LaneStop?>()
        Task { ended.send(await stop.value) }
        while ended.value == nil {
            lane.end()
            try await Task.checkedYield()
        }
        #expect(await stop.value == .over)
    }

    /// Threads of a plugin may sleep where the caller does, and be woken in its place.
    @Test func `a caller whose wake-up is taken by another thread gives up at its deadline`() async throws {
        let clock = ManualHostClock()
        let memory = try #require(SharedMemory(size: CallLane.size))
        let isOver = Atomic(false)
        defer { isOver.store(true, ordering: .relaxed) }
        let thieves = OneShot<Void>()
        #expect(
            HostThread.start("test-thief") {
                let word = unsafe CallLane.rings(in: memory).answers.readerSleeps
                while !isOver.load(ordering: .relaxed) {
                    unsafe word.pointee.store(1, ordering: .sequentiallyConsistent)
                    _ = unsafe runner_wait(word, 1, 1_000_000)
                }
                thieves.send(())
            }
        )
        let lane = CallLane(memory, clock, patience: 30_000_000_000)
        let stop = Task.detached {
            lane.stream.receive()
            return lane.stream.stop
        }
        await clock.timers(atLeast: 1)
        clock.advance(by: .seconds(30))
        #expect(await stop.value == .late)
        isOver.store(true, ordering: .relaxed)
        await thieves.wait()
    }

    @Test func `an error that claims too much is refused before memory is taken for it`() throws {
        let lane = try Self.lane { stream in
            stream.begin(count: FrameHeader.limit)
            stream.put(LaneAnswer.failed.rawValue)
            stream.send()
        }
        lane.stream.receive()
        let word = lane.stream.word()
        #expect(word == LaneAnswer.failed.rawValue)
        let error = lane.stream.error()
        #expect(error == nil && lane.stream.stop == .corrupt)
        lane.end()
    }

    /// An endless answer would keep the caller for as long as the plugin likes.
    @Test func `a caller whose answer never ends gives up at its deadline`() async throws {
        let clock = ManualHostClock()
        let isOver = Atomic(false)
        let ended = OneShot<Void>()
        let lane = try Self.lane(clock) { stream in
            while !isOver.load(ordering: .relaxed) {
                stream.put(0)
                stream.send()
            }
            ended.send(())
        }
        let stop = Task.detached {
            while lane.stream.stop == nil { lane.stream.receive() }
            return lane.stream.stop
        }
        await clock.timers(atLeast: 1)
        clock.advance(by: .seconds(30))
        #expect(await stop.value == .late)
        // What is left is taken in pieces.
        isOver.store(true, ordering: .relaxed)
        lane.stream.due = .max
        while ended.value == nil { _ = lane.stream.discard() }
        lane.end()
    }

    /// A stopped runner takes nothing: the ring of the calls fills.
    @Test func `a caller that cannot send gives up at its deadline`() async throws {
        let clock = ManualHostClock()
        let lane = try Self.lane(clock) { _ in }
        let stop = Task.detached {
            let bytes = [UInt8](repeating: 1, count: 1 << 20)
            lane.stream.begin(count: bytes.count)
            unsafe bytes.withUnsafeBytes { unsafe lane.stream.put($0) }
            return lane.stream.stop
        }
        await clock.timers(atLeast: 1)
        clock.advance(by: .seconds(30))
        #expect(await stop.value == .late)
    }

    // MARK: The lanes of a runner

    /// Lanes that answer when they are told to, with the word that they were sent.
    private final class Lanes: Sendable {
        let lanes = CallLanes()
        let clock = ManualHostClock()
        private let opened = Mutex(0)
        private let answers = Monitor(false)
        private let opens = Monitor(true)

        var count: Int { opened.withLock(\.self) }

        func answer(_ isOn: Bool) {
            answers.withLock { $0 = isOn }
            answers.signal()
        }

        func open(_ isOn: Bool) {
            opens.withLock { $0 = isOn }
            opens.signal()
        }

        func take() -> CallLane? {
            lanes.take(clock, patience: 30_000_000_000) { descriptor in
                guard
                    let memory = SharedMemory(
                        OwnedDescriptor(OwnedDescriptor.duplicate(descriptor)),
                        size: CallLane.size
                    )
                else { return false }
                opened.withLock { $0 += 1 }
                return HostThread.start("test-lane") { [answers, opens] in
                    var stream = LaneTests.stream(in: memory)
                    opens.wait { $0 ? .proceed(()) : .wait(until: nil) }
                    for word in [8, LaneAnswer.answered.rawValue] { stream.put(word) }
                    stream.send()
                    while stream.stop == nil {
                        stream.receive()
                        let word = stream.word()
                        answers.wait { $0 ? .proceed(()) : .wait(until: nil) }
                        for word in [8, word] { stream.put(word) }
                        stream.send()
                    }
                }
            } onLate: {
            }
        }
    }

    @Test func `a late answer is thrown away, and its lane is used again`() async throws {
        let test = Lanes()
        let first = try #require(test.take())
        let late = Task.detached {
            let word = LaneTests.call(first, 1, []).0
            let stop = first.stream.stop
            test.lanes.giveBack(first)
            return (word, stop)
        }
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .seconds(30))
        let (word, stop) = await late.value
        #expect(word == 0 && stop == .late)
        // The plugin's function is still inside of the first lane.
        let second = try #require(test.take())
        #expect(second !== first)
        test.answer(true)
        #expect(Self.call(second, 2, []).0 == 2)
        // New lanes, until the late answer has come.
        var others: [CallLane] = []
        while others.last !== first {
            if let lane = test.take() { others.append(lane) } else { try await Task.checkedYield() }
        }
        #expect(Self.call(first, 3, []).0 == 3 && first.stream.stop == nil)
        for lane in others { test.lanes.giveBack(lane) }
        test.lanes.giveBack(second)
        test.lanes.end(RunnerEnd())
        #expect(test.take() == nil)
    }

    @Test func `a runner has sixteen lanes at most, which are used again`() throws {
        let test = Lanes()
        test.answer(true)
        let lanes = (0..<CallLanes.limit).compactMap { _ in test.take() }
        #expect(lanes.count == CallLanes.limit && test.take() == nil)
        for lane in lanes { test.lanes.giveBack(lane) }
        let again = try #require(test.take())
        #expect(test.count == CallLanes.limit && lanes.contains { $0 === again })
        test.lanes.giveBack(again)
        test.lanes.end(RunnerEnd())
    }

    @Test func `a lane that opens late is used once it is open, and no other is opened before`() async throws {
        let test = Lanes()
        test.open(false)
        let first = Task.detached { test.take() }
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .nanoseconds(Int64(CallLanes.openingPatience)))
        #expect(await first.value == nil)
        #expect(test.take() == nil && test.count == 1)
        test.open(true)
        test.answer(true)
        var lane: CallLane?
        while lane == nil {
            lane = test.take()
            try await Task.checkedYield()
        }
        let opened = try #require(lane)
        #expect(test.count == 1 && opened.patience == 30_000_000_000)
        #expect(Self.call(opened, 3, []).0 == 3 && opened.stream.stop == nil)
        test.lanes.giveBack(opened)
        test.lanes.end(RunnerEnd())
    }

    @Test func `a runner without a thread for a lane is not asked again`() throws {
        let lanes = CallLanes()
        var count = 0
        for _ in 0..<3 {
            let lane = lanes.take(ManualHostClock(), patience: 1_000_000_000) { descriptor in
                count += 1
                let copy = OwnedDescriptor(OwnedDescriptor.duplicate(descriptor))
                guard let memory = SharedMemory(copy, size: CallLane.size) else { return false }
                var stream = Self.stream(in: memory)
                for word in [8, LaneAnswer.busy.rawValue] { stream.put(word) }
                stream.send()
                return true
            } onLate: {
            }
            #expect(lane == nil)
        }
        #expect(count == 1)
    }

    @Test func `a lane that the host could not ask for is asked for again`() throws {
        let lanes = CallLanes()
        var count = 0
        for _ in 0..<(2 * CallLanes.limit) {
            let lane = lanes.take(ManualHostClock(), patience: 1_000_000_000) { _ in
                count += 1
                return false
            } onLate: {
            }
            #expect(lane == nil)
        }
        #expect(count == 2 * CallLanes.limit)
    }
}
