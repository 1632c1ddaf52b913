// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorOneShot
import Synchronization
import Testing

@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// How calls enter and leave the instances of a gate.
@Suite(.timeLimit(.minutes(10))) struct DoorTests {
    private let door = Door(
        CallEnvironment(
            operations: OperationTable(),
            workers: WorkerThreads(),
            gateThreads: WorkerThreads(isLean: true),
            clock: ManualHostClock()
        )
    )

    @Test func `no call passes a door that leads nowhere`() {
        #expect(!door.isOpen)
        let admission = door.admitNow()
        #expect(admission == nil)
    }

    @Test func `a seat is empty when the last caller has left, and not before`() throws {
        let seat = try #require(door.lead(to: StubChannel()))
        var first = door.admitNow()
        var second = door.admitNow()
        door.shut()
        let empty = door.emptied(seat)
        #expect(empty.value == nil)
        first = nil
        #expect(empty.value == nil)
        second = nil
        #expect(empty.value != nil)
        #expect(first == nil && second == nil)
    }

    @Test func `a caller that is turned away does not keep a seat from being empty`() throws {
        let seat = try #require(door.lead(to: StubChannel()))
        door.shut()
        let admission = door.admitNow()
        #expect(admission == nil)
        #expect(door.emptied(seat).value != nil)
    }

    @Test func `calls go to the successor, and the predecessor is empty when its own have left`() throws {
        let (old, new) = (StubChannel(), StubChannel())
        let seat = try #require(door.lead(to: old))
        var inside = door.admitNow()
        #expect(inside?.channel === old)
        _ = try #require(door.lead(to: new))
        let empty = door.emptied(seat)
        var next = door.admitNow()
        #expect(next?.channel === new)
        #expect(empty.value == nil)
        inside = nil
        #expect(empty.value != nil)
        next = nil
        #expect(inside == nil && next == nil)
    }

    @Test func `instances whose callers never come back take the seats, and no further one gets any`() {
        let channels = (0..<Door.seatCount).map { _ in StubChannel() }
        let seats = channels.compactMap { door.lead(to: $0) }
        #expect(seats.count == Door.seatCount)
        #expect(door.lead(to: StubChannel()) == nil)
        door.vacate(seats[0])
        #expect(door.lead(to: StubChannel()) == seats[0])
    }

    @Test func `an instance is let go when its seat is vacated`() throws {
        weak var channel: StubChannel?
        let seat: Int?
        do {
            let made = StubChannel()
            channel = made
            seat = door.lead(to: made)
        }
        #expect(channel != nil)
        door.shut()
        door.vacate(try #require(seat))
        #expect(channel == nil)
    }

    @Test func `nobody is inside an instance once it is empty, however often it is replaced`() async throws {
        let isOver = Atomic(false)
        let strayed = Atomic(0)
        let passed = Atomic(0)
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { @concurrent in
                    while !isOver.load(ordering: .acquiring) {
                        guard let admission = door.admitNow() else { continue }
                        if let channel = admission.channel as? StubChannel, channel.isGone.load(ordering: .acquiring) {
                            strayed.add(1, ordering: .relaxed)
                        }
                        passed.add(1, ordering: .relaxed)
                        extendLifetime(admission)
                    }
                }
            }
            var last: (seat: Int, channel: StubChannel)?
            while passed.load(ordering: .relaxed) < 20_000 {
                let channel = StubChannel()
                guard let seat = door.lead(to: channel) else { continue }
                if let last {
                    await door.emptied(last.seat).wait()
                    last.channel.isGone.store(true, ordering: .releasing)
                    door.vacate(last.seat)
                }
                last = (seat, channel)
                await Task.yield()
            }
            isOver.store(true, ordering: .releasing)
        }
        #expect(strayed.load(ordering: .relaxed) == 0)
    }
}

/// A channel to nothing.
private final class StubChannel: Channel {
    /// Whether the door has said that nobody is inside.
    let isGone = Atomic(false)

    var instance: PluginInstance? { nil }
    var isForeign: Bool { false }
    var canProbe: Bool { false }
    var canClose: Bool { false }

    func begin(_ phase: InstancePhase, operation: UInt64, deadline: UInt64) {}

    func call(
        _ name: String,
        _ arguments: CallArguments,
        _ options: CallOptions,
        by deadline: UInt64,
        _ admission: consuming Admission
    ) async throws(ConnectorError) -> CallResult {
        throw ConnectorError(.unsupported, "a stub answers nothing")
    }

    func cancel(_ operation: UInt64) {}

    func dispose() -> OneShot<Void> { OneShot() }
}
