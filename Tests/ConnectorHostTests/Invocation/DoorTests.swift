// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorOneShot
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

    /// Whether a call may pass; it leaves at once.
    private func admits() -> Bool {
        switch door.admitNow() {
        case .some: true
        case nil: false
        }
    }

    private func isLed(_ admission: borrowing Admission?, to channel: StubChannel) -> Bool {
        switch admission {
        case .some(let admission): admission.channel === channel
        case nil: false
        }
    }

    @Test func `no call passes a door that leads nowhere`() {
        #expect(!door.isOpen)
        #expect(!admits())
    }

    @Test func `a seat is empty when the last caller has left, and not before`() throws {
        let seat = try #require(door.lead(to: StubChannel()))
        let first = door.admitNow()
        let second = door.admitNow()
        door.shut()
        let empty = door.emptied(seat)
        #expect(empty.value == nil)
        _ = consume first
        #expect(empty.value == nil)
        _ = consume second
        #expect(empty.value != nil)
    }

    @Test func `a caller that is turned away does not keep a seat from being empty`() throws {
        let seat = try #require(door.lead(to: StubChannel()))
        door.shut()
        #expect(!admits())
        #expect(door.emptied(seat).value != nil)
    }

    @Test func `typed calls are counted once they are inside, and stay counted when their seat is taken again`() throws
    {
        let seat = try #require(door.lead(to: StubChannel()))
        let first = door.admitNow(.typed)
        let named = door.admitNow()
        #expect(door.activeCalls == 2 && door.typedCalls == 1)
        door.shut()
        #expect(!admits())
        let empty = door.emptied(seat)
        _ = consume first
        #expect(empty.value == nil && door.activeCalls == 1)
        _ = consume named
        #expect(empty.value != nil && door.activeCalls == 0)
        door.vacate(seat)
        #expect(try #require(door.lead(to: StubChannel())) == seat)
        for _ in 1...9 { _ = door.admitNow(.typed) }
        #expect(door.typedCalls == 10 && door.activeCalls == 0)
    }

    @Test func `calls go to the successor, and the predecessor is empty when its own have left`() throws {
        let (old, new) = (StubChannel(), StubChannel())
        let seat = try #require(door.lead(to: old))
        let inside = door.admitNow()
        let entered = isLed(inside, to: old)
        #expect(entered)
        _ = try #require(door.lead(to: new))
        let empty = door.emptied(seat)
        let next = door.admitNow()
        let followed = isLed(next, to: new)
        #expect(followed)
        #expect(empty.value == nil)
        _ = consume inside
        #expect(empty.value != nil)
        _ = consume next
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
}

/// A channel to nothing.
private final class StubChannel: Channel {
    var instance: PluginInstance? { nil }
    var isForeign: Bool { false }
    var canProbe: Bool { false }
    var canClose: Bool { false }
    var functionsInside: [String] { [] }

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
