// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

/// Makes the timeline of one gate happen, on a clock.
package final class SimulatedTimeline: Sendable {
    private let entries: [TimelineEntry]
    private let clock: any HostClock
    private let operations: SimulatedOperations?
    private let simulator: Simulator?
    private let vendor: String?
    private let emit: @Sendable (_ name: String, _ payload: JSONValue) -> Void
    /// The timers, by number, nil while they are being scheduled; all of it is nil before the start and after the end.
    private let timers = Mutex<(last: Int, waiting: [Int: HostTimer?])?>(nil)

    /// Prepares a timeline.
    ///
    /// - Parameters:
    ///   - world: The file that describes it.
    ///   - operations: The simulated interface, whose records and failures it changes; nil if there is none.
    ///   - vendor: The vendor of a simulator that its faults are for; nil if there is none.
    ///   - emit: Sends an event of the gate, on the clock's thread, which it must not block.
    package init(
        _ world: SimulatedWorld,
        clock: any HostClock,
        operations: SimulatedOperations? = nil,
        vendor: (simulator: Simulator, name: String)? = nil,
        emit: @escaping @Sendable (_ name: String, _ payload: JSONValue) -> Void
    ) {
        entries = world.timeline
        self.clock = clock
        self.operations = operations
        (simulator, self.vendor) = (vendor?.simulator, vendor?.name)
        self.emit = emit
    }

    /// Begins the timeline now.
    package func start() {
        let start = clock.now()
        timers.withLock { $0 = $0 ?? (0, [:]) }
        for entry in entries {
            guard let first = entry.at ?? entry.every else { continue }
            happen(entry, 1, at: start.saturatingAdding(first.nanoseconds))
        }
    }

    /// Ends the timeline.
    package func stop() {
        let waiting = timers.withLock { timers in
            defer { timers = nil }
            return timers?.waiting ?? [:]
        }
        for case let timer? in waiting.values { clock.cancel(timer) }
    }

    /// Schedules an entry for the given time, and again after it happened.
    private func happen(_ entry: TimelineEntry, _ count: Int, at deadline: UInt64) {
        schedule(at: deadline) { [self] in
            perform(entry, count, at: deadline)
            guard let every = entry.every, every > .zero, count < entry.times ?? .max else { return }
            happen(entry, count + 1, at: deadline.saturatingAdding(every.nanoseconds))
        }
    }

    private func perform(_ entry: TimelineEntry, _ count: Int, at time: UInt64) {
        let values: JSONTemplate.Values = [
            "count": .integer(Int64(count)), "time": .string(clock.wallTime().description),
        ]
        if let keep = entry.keep { operations?.keep(keep, values) }
        if let remove = entry.remove { operations?.remove(remove, values) }
        if let failure = entry.failure, let operations {
            let number = operations.begin(failure)
            after(entry.lasts, from: time) { operations.end(number) }
        }
        if var fault = entry.fault, let simulator, let vendor {
            fault.vendor = vendor
            let number = simulator.begin(fault)
            after(entry.lasts, from: time) { simulator.end(fault: number) }
        }
        if let event = entry.event { emit(event.name, event.payload.filled(values)) }
    }

    private func after(_ duration: Duration?, from time: UInt64, _ body: @escaping @Sendable () -> Void) {
        if let duration { schedule(at: time.saturatingAdding(duration.nanoseconds), body) }
    }

    /// Runs work once, unless the timeline ends before.
    private func schedule(at deadline: UInt64, _ body: @escaping @Sendable () -> Void) {
        let number = timers.withLock { timers -> Int? in
            guard let number = timers.map({ $0.last + 1 }) else { return nil }
            timers?.last = number
            timers?.waiting[number] = .some(nil)
            return number
        }
        guard let number else { return }
        // Without the lock: a clock that has passed the deadline calls back at once.
        let timer = clock.schedule(at: deadline) { [weak self] in
            let isWanted = self?.timers.withLock { $0?.waiting.removeValue(forKey: number) != nil } ?? false
            if isWanted { body() }
        }
        let isWaiting = timers.withLock { timers in
            guard timers?.waiting[number] != nil else { return false }
            timers?.waiting[number] = timer
            return true
        }
        if !isWaiting { clock.cancel(timer) }
    }
}
