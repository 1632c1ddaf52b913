// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory of a test's own.
final class Folder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/outbox-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw ConnectorError(.failed, "no directory for a test") }
        path = unsafe String(cString: made)
    }

    deinit {
        for name in names { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    /// The names of what is in it.
    var names: [String] {
        var names: [String] = []
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

extension OutboxEvent {
    /// An event of the given number.
    static func numbered(
        _ number: Int,
        at time: Timestamp = start,
        capability: String = "analytics/1",
        bytes: Int = 20
    ) -> OutboxEvent {
        let text = "{\"n\":\(number)"
        let filling = max(0, bytes - text.utf8.count - 8)
        let payload = Array("\(text),\"f\":\"\(String(repeating: "x", count: filling))\"}".utf8)
        return OutboxEvent(
            id: "event-\(number)",
            kind: EventKind(capability, "track"),
            createdAt: time,
            payload: payload
        )
    }

    /// The time of day at which tests begin.
    static let start = Timestamp(nanoseconds: 1_767_225_600_000_000_000)
}

extension OutboxBatch {
    /// A batch of events, at the positions 1, 2 and so on.
    init(events: [OutboxEvent]) {
        self.init(path: "a")
        for (index, event) in events.enumerated() {
            append(Entry(position: Int64(index + 1), attempts: 0, event: event)) { $0 += event.payload }
        }
    }

    /// The events with their payloads.
    var events: [OutboxEvent] {
        entries.map { OutboxEvent(id: $0.id, kind: $0.kind, createdAt: $0.createdAt, payload: payload(of: $0)) }
    }
}

/// A vendor that answers as the test says, and remembers what it got.
final class Vendor: Sendable {
    typealias Answer = @Sendable ([OutboxEvent]) -> Result<[DeliveryAnswer], ConnectorError>

    private struct State {
        var batches: [[String]] = []
        var answer: Answer
        var isOpen = true
        /// Holds the answers back; nil while nothing does.
        var stall: OneShot<Void>?
        /// Holds the answers back even from callers that give up.
        var block: OneShot<Void>?
    }

    private let state: Mutex<State>

    init(_ answer: @escaping Answer = { .success($0.map { _ in .accepted }) }) {
        state = Mutex(State(answer: answer))
    }

    /// The ids of every batch it was sent.
    var batches: [[String]] { state.withLock(\.batches) }

    var isOpen: Bool {
        get { state.withLock(\.isOpen) }
        set { state.withLock { $0.isOpen = newValue } }
    }

    func answers(_ answer: @escaping Answer) {
        state.withLock { $0.answer = answer }
    }

    /// Answers nothing from now on, until ``resume()``, or until its caller gives up.
    func stall() {
        state.withLock { $0.stall = OneShot() }
    }

    /// Answers nothing from now on, even when its caller gives up.
    func ignoresCancellation(until end: OneShot<Void>) {
        state.withLock { $0.block = end }
    }

    /// Answers again.
    func resume() {
        state.withLock { $0.stall.take() }?.send()
    }

    func take(_ batch: OutboxBatch) async -> Result<[DeliveryAnswer], ConnectorError> {
        let events = batch.events
        let (answer, stall, block) = state.withLock { state in
            state.batches.append(events.map(\.id))
            return (state.answer, state.stall, state.block)
        }
        await block?.wait()
        if let stall, await stall.waitUnlessCancelled() == nil {
            return .failure(ConnectorError(.cancelled, "the delivery was abandoned"))
        }
        return answer(events)
    }

    /// Refuses every batch.
    static func refuses(_ code: ConnectorError.Code, after: Duration? = nil, isRetryable: Bool = true) -> Answer {
        { _ in .failure(ConnectorError(code, "the vendor says no", isRetryable: isRetryable, retryAfter: after)) }
    }

    /// Refuses a batch in which an event is poison.
    static func refuses(_ poison: String...) -> Answer {
        { events in
            events.contains { poison.contains($0.id) }
                ? .failure(ConnectorError(.invalid, "bad request")) : .success(events.map { _ in .accepted })
        }
    }

    /// Takes every event but the first, which fails by itself.
    static let failsFirst: Answer = { events in
        .success(events.map { $0.id == "event-1" ? .retry("not this one", code: .conflict) : .accepted })
    }
}

/// What an outbox tells of its deliveries: why they began to fail, and nil each time that they succeeded again.
final class Pauses: Sendable {
    private let state = Mutex<[String?]>([])

    var reasons: [String?] { state.withLock(\.self) }

    func add(_ failure: DeliveryFailure?) { state.withLock { $0.append(failure?.reason) } }
}

/// What an outbox tells of its dead letters.
final class Deaths: Sendable {
    struct Death: Sendable, Hashable {
        var path: String
        var count: Int
        var reason: String
    }

    private let state = Mutex<[Death]>([])

    var all: [Death] { state.withLock(\.self) }

    func add(_ path: String, _ count: Int, _ failure: DeliveryFailure) {
        state.withLock { $0.append(Death(path: path, count: count, reason: failure.reason)) }
    }
}

/// An outbox with vendors, and a clock that the test moves.
final class Bench: Sendable {
    let clock = ManualHostClock()
    let vendors: [String: Vendor]
    let policy: DeliveryPolicy
    let outbox: Outbox
    let pauses = Pauses()
    let deaths = Deaths()
    private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        _ paths: [String] = ["a"],
        policy: DeliveryPolicy = DeliveryPolicy(),
        limits: BatchLimits = BatchLimits(),
        folder: Folder? = nil,
        delivers: Bool = true,
        isInMemory: Bool = false,
        engine: (@Sendable () async throws(ConnectorError) -> any OutboxEngine)? = nil,
        lock: (@Sendable () throws(ConnectorError) -> DeliveryLock)? = nil
    ) {
        let vendors = Dictionary(uniqueKeysWithValues: paths.map { ($0, Vendor()) })
        (self.vendors, self.policy) = (vendors, policy)
        let (clock, changed, pauses, deaths) = (clock, changes.continuation, pauses, deaths)
        outbox = Outbox(
            vendors.map { path, vendor in
                DeliveryTarget(
                    path: path,
                    policy: policy,
                    limits: limits,
                    isUsable: { vendor.isOpen },
                    send: { await vendor.take($0) }
                )
            },
            Outbox.Dependencies(
                open: { () throws(ConnectorError) in
                    if let engine { return try await engine() }
                    guard let folder else { return try await SQLiteEngine(now: { clock.wallTime() }) }
                    return try await SQLiteEngine(directory: folder.path, now: { clock.wallTime() }) { _, _ in }
                },
                lock: { () throws(ConnectorError) in
                    if let lock { return try lock() }
                    guard let folder else { return DeliveryLock() }
                    return try DeliveryLock(folder.path)
                },
                clock: clock,
                jitter: { $0 },
                executor: WorkerThreads(),
                delivers: delivers,
                isInMemory: isInMemory,
                onChange: { changed.yield() },
                onPause: { pauses.add($1) },
                onDead: { deaths.add($0, $1, $2) }
            )
        )
    }

    var vendor: Vendor { vendors["a"] ?? Vendor() }

    func events(_ numbers: ClosedRange<Int>, bytes: Int = 20) -> [OutboxEvent] {
        numbers.map { .numbered($0, at: clock.wallTime(), bytes: bytes) }
    }

    /// Waits until something is true of the outbox.
    func until(_ isTrue: () -> Bool) async {
        for await _ in changes.stream where isTrue() { return }
    }

    func statistics(_ path: String = "a") -> QueueStatistics { outbox.statistics(of: path) ?? QueueStatistics() }

    /// Waits until no event waits.
    func drained(_ path: String = "a") async {
        if statistics(path).queued == 0 { return }
        await until { statistics(path).queued == 0 }
    }

    /// Waits until the delivery pauses.
    ///
    /// - Returns: When its next attempt is.
    @discardableResult
    func paused(_ path: String = "a") async -> Timestamp {
        var end: Timestamp?
        func isPaused() -> Bool {
            guard case .paused(_, let until)? = outbox.condition(of: path), until > clock.wallTime() else {
                return false
            }
            end = until
            return true
        }
        if !isPaused() { await until(isPaused) }
        return end ?? clock.wallTime()
    }

    /// Waits until the delivery pauses, and moves the clock to its next attempt.
    func nextAttempt(_ path: String = "a") async {
        let end = await paused(path)
        await clock.timers(atLeast: 2)  // the attempt, and the look for other processes
        clock.advance(by: .nanoseconds(Int64(end.nanoseconds - clock.wallTime().nanoseconds)))
    }

    /// Moves the clock until something is true of the outbox: a delivery that a timer on the way has woken may look at the
    /// time before the clock has arrived, and then waits once more.
    func advance(by duration: Duration, until isTrue: () -> Bool) async throws {
        clock.advance(by: duration)
        while !isTrue() {
            if clock.timerCount >= 2 { clock.advance(by: policy.longestWait) }
            try await Task.checkedYield()
        }
    }

    /// Waits until the outbox has done what is due: its look for other processes waits again, and its delivery.
    func looked() async throws {
        while statistics().queued > 0, clock.timerCount < 2 { try await Task.checkedYield() }
    }
}
