// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import Testing

@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform

/// How calls enter and leave the instances of a gate.
@Suite(.timeLimit(.minutes(10))) struct RundownGuardTests {
    private let rundown = RundownGuard(
        CallDependencies(
            operations: OperationTable(),
            workers: WorkerThreads(),
            gateThreads: WorkerThreads(isLean: true),
            cancelThreads: WorkerThreads(isLean: true),
            clock: ManualHostClock()
        )
    )

    /// Whether a call may pass; it leaves at once.
    private func admits() -> Bool {
        switch rundown.admitNow() {
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

    @Test func `no call passes a rundown guard that leads nowhere`() {
        #expect(!admits())
    }

    @Test func `a seat is empty when the last caller has left, and not before`() throws {
        let seat = try #require(rundown.directCalls(to: StubChannel()))
        let first = rundown.admitNow()
        let second = rundown.admitNow()
        rundown.shut()
        let empty = rundown.emptied(seat)
        #expect(empty.value == nil)
        _ = consume first
        #expect(empty.value == nil)
        _ = consume second
        #expect(empty.value != nil)
    }

    @Test func `a caller that is turned away does not keep a seat occupied`() throws {
        let seat = try #require(rundown.directCalls(to: StubChannel()))
        rundown.shut()
        #expect(!admits())
        #expect(rundown.emptied(seat).value != nil)
    }

    @Test func `typed calls are counted once they are inside, and stay counted when their seat is taken again`() throws
    {
        let seat = try #require(rundown.directCalls(to: StubChannel()))
        let first = rundown.admitNow(.typed)
        let named = rundown.admitNow()
        #expect(rundown.activeCalls == 2 && rundown.typedCalls == 1)
        rundown.shut()
        #expect(!admits())
        let empty = rundown.emptied(seat)
        _ = consume first
        #expect(empty.value == nil && rundown.activeCalls == 1)
        _ = consume named
        #expect(empty.value != nil && rundown.activeCalls == 0)
        rundown.vacate(seat)
        #expect(try #require(rundown.directCalls(to: StubChannel())) == seat)
        for _ in 1...9 { _ = rundown.admitNow(.typed) }
        #expect(rundown.typedCalls == 10 && rundown.activeCalls == 0)
    }

    @Test func `calls go to the successor, and the seat of the predecessor is empty once its own calls have left`()
        throws
    {
        let (old, new) = (StubChannel(), StubChannel())
        let seat = try #require(rundown.directCalls(to: old))
        let inside = rundown.admitNow()
        let entered = isLed(inside, to: old)
        #expect(entered)
        _ = try #require(rundown.directCalls(to: new))
        let empty = rundown.emptied(seat)
        let next = rundown.admitNow()
        let followed = isLed(next, to: new)
        #expect(followed)
        #expect(empty.value == nil)
        _ = consume inside
        #expect(empty.value != nil)
        _ = consume next
    }

    @Test func `instances whose callers never return keep their seats, and no further instance gets one`() {
        let channels = (0..<RundownGuard.seatCount).map { _ in StubChannel() }
        let seats = channels.compactMap { rundown.directCalls(to: $0) }
        #expect(seats.count == RundownGuard.seatCount)
        #expect(rundown.directCalls(to: StubChannel()) == nil)
        rundown.vacate(seats[0])
        #expect(rundown.directCalls(to: StubChannel()) == seats[0])
    }

    @Test func `an instance is released when its seat is vacated`() throws {
        weak var channel: StubChannel?
        let seat: Int?
        do {
            let made = StubChannel()
            channel = made
            seat = rundown.directCalls(to: made)
        }
        #expect(channel != nil)
        rundown.shut()
        rundown.vacate(try #require(seat))
        #expect(channel == nil)
    }
}

/// A channel to nothing.
private final class StubChannel: Channel {
    var instance: PluginInstance? { nil }
    var content: ImageContent? { nil }
    var isForeign: Bool { false }
    var canProbe: Bool { false }
    var canClose: Bool { false }
    var functionsInside: [PluginFunction] { [] }

    func pendingWork(for operation: UInt64, during span: ClosedRange<UInt64>) -> PendingWork { .nothing }

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

    func cancel(_ operation: UInt64, then next: @escaping @Sendable () -> Void) { next() }

    func forwardingInstance() throws(ConnectorError) -> PluginInstance {
        throw ConnectorError(.unsupported, "nothing is called here")
    }

    func dispose() -> OneShot<Void> { OneShot() }
}
