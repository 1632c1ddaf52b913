// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

/// Runs the timeline of one gate on a clock.
package final class SimulatedTimeline: Sendable {
    /// The entries, each with a number that identifies what it began. No two timelines share a number, so they may share a simulator.
    private let entries: [(number: Int, entry: TimelineEntry)]
    private let clock: any HostClock
    private let operations: SimulatedOperations?
    private let simulator: Simulator?
    private let vendor: String?
    private let emit: @Sendable (_ name: String, _ payload: JSONValue) -> Void
    private let lost: @Sendable (_ what: String) -> Void
    private let isWanted: @Sendable () -> Bool
    /// Nil before the start and after the end.
    private let state = Mutex<State?>(nil)

    private static let numbers = Atomic<Int>(0)

    private struct State {
        var last = 0
        /// The timers, by number; nil while one is being scheduled.
        var waiting: [Int: HostTimer?] = [:]
        /// The numbers of the timers that end what an entry began, by the entry's number.
        var ends: [Int: Int] = [:]
        /// The numbers of the entries for which a loss was reported.
        var faulty: Set<Int> = []
    }

    /// Prepares a timeline.
    ///
    /// - Parameters:
    ///   - world: The file that has the timeline.
    ///   - operations: The simulated interface, whose records, answers and failures the timeline changes; nil if there is none.
    ///   - vendor: The simulated vendor that its faults and answers apply to; nil if there is none.
    ///   - isWanted: Whether the timeline goes on; asked each time an entry is due. Once it does not, the timeline ends.
    ///   - lost: Receives a report of what was too large to happen, once for each entry.
    ///   - emit: Sends an event of the gate, on the clock's thread, which it must not block.
    package init(
        _ world: SimulatedWorld,
        clock: any HostClock,
        operations: SimulatedOperations? = nil,
        vendor: (simulator: Simulator, name: String)? = nil,
        isWanted: @escaping @Sendable () -> Bool = { true },
        lost: @escaping @Sendable (_ what: String) -> Void = { _ in },
        emit: @escaping @Sendable (_ name: String, _ payload: JSONValue) -> Void
    ) {
        let first = Self.numbers.wrappingAdd(world.timeline.count, ordering: .relaxed).oldValue
        entries = world.timeline.enumerated().map { (first + $0, $1) }
        self.clock = clock
        self.operations = operations
        (simulator, self.vendor) = (vendor?.simulator, vendor?.name)
        self.emit = emit
        self.lost = lost
        self.isWanted = isWanted
    }

    /// Begins the timeline now, unless it has begun. What is due at 0s has happened when this returns.
    package func start() {
        let start = clock.now()
        let isFirst = state.withLock { state in
            guard state == nil else { return false }
            state = State()
            return true
        }
        guard isFirst else { return }
        for (number, entry) in entries {
            guard let first = entry.at ?? entry.every else { continue }
            if first == .zero {
                occur(entry, number, 1, at: start)
            } else {
                happen(entry, number, 1, at: start.saturatingAdding(first.nanoseconds))
            }
        }
    }

    /// Ends the timeline, and what its entries began.
    package func stop() {
        let waiting = state.withLock { state in
            defer { state = nil }
            return state?.waiting ?? [:]
        }
        for case let timer? in waiting.values { clock.cancel(timer) }
        for (number, entry) in entries where entry.lastsForAWhile { end(number) }
    }

    /// Schedules an entry for the given time; once it has happened, schedules it again if it repeats.
    private func happen(_ entry: TimelineEntry, _ number: Int, _ count: Int, at deadline: UInt64) {
        schedule(at: deadline) { [self] in occur(entry, number, count, at: deadline) }
    }

    private func occur(_ entry: TimelineEntry, _ number: Int, _ count: Int, at deadline: UInt64) {
        guard isWanted() else { return stop() }
        perform(entry, number, count, at: deadline)
        guard let every = entry.every, every > .zero, count < entry.times ?? .max else { return }
        happen(entry, number, count + 1, at: deadline.saturatingAdding(every.nanoseconds))
    }

    private func perform(_ entry: TimelineEntry, _ number: Int, _ count: Int, at time: UInt64) {
        let values: JSONTemplate.Values = [
            "count": .integer(Int64(count)), "time": .string(clock.wallTime().description),
        ]
        attempt("keep", number) { () throws(ConnectorError) in
            if let keep = entry.keep { try operations?.keep(keep, values) }
        }
        attempt("remove", number) { () throws(ConnectorError) in
            if let remove = entry.remove { try operations?.remove(remove, values) }
        }
        if entry.lastsForAWhile { begin(entry, number, values, at: time) }
        attempt("event", number) { () throws(ConnectorError) in
            if let event = entry.event { emit(event.name, try event.filled(values)) }
        }
    }

    /// Does something that may be too large to happen, and reports it as lost if so: there is no call that could fail.
    private func attempt(_ what: String, _ number: Int, _ body: () throws(ConnectorError) -> Void) {
        do throws(ConnectorError) {
            try body()
        } catch {
            guard state.withLock({ $0?.faulty.insert(number).inserted ?? false }) else { return }
            let index = number - (entries.first?.number ?? number)
            lost("timeline[\(index)].\(what) of the simulation did not happen: \(error.message)")
        }
    }

    private func begin(_ entry: TimelineEntry, _ number: Int, _ values: JSONTemplate.Values, at time: UInt64) {
        if let operations {
            attempt("error", number) { () throws(ConnectorError) in
                if let failure = entry.failure { operations.begin(try failure.filled(values), number: number) }
            }
            if let answers = entry.operations { operations.begin(answers, number: number) }
        }
        if let simulator, let vendor {
            if var fault = entry.fault {
                fault.vendor = vendor
                simulator.begin(fault, number: number)
            }
            if let answers = entry.answers { simulator.begin(answers, of: vendor, number: number) }
        }
        // If the timeline ended meanwhile, it may not have ended this.
        guard state.withLock({ $0 != nil }) else { return end(number) }
        guard let duration = entry.lasts else { return }
        // A repeating entry may happen again before what it began has ended: drop the earlier end.
        forget(state.withLock { $0?.ends.removeValue(forKey: number) })
        let timer = schedule(at: time.saturatingAdding(duration.nanoseconds)) { [self] in end(number) }
        state.withLock { $0?.ends[number] = timer }
    }

    /// Ends what an entry began, if it began anything.
    private func end(_ number: Int) {
        operations?.end(number)
        simulator?.end(number)
    }

    // MARK: Timers

    /// Runs work once, unless the timeline ends first.
    ///
    /// - Returns: The number of its timer; nil if the timeline is not running.
    @discardableResult
    private func schedule(at deadline: UInt64, _ body: @escaping @Sendable () -> Void) -> Int? {
        let number = state.withLock { state -> Int? in
            guard let number = state.map({ $0.last + 1 }) else { return nil }
            state?.last = number
            state?.waiting[number] = .some(nil)
            return number
        }
        guard let number else { return nil }
        // Outside the lock: a clock that has passed the deadline may call back at once.
        let timer = clock.schedule(at: deadline) { [weak self] in
            let isWanted = self?.state.withLock { $0?.waiting.removeValue(forKey: number) != nil } ?? false
            if isWanted { body() }
        }
        let isWaiting = state.withLock { state in
            guard state?.waiting[number] != nil else { return false }
            state?.waiting[number] = timer
            return true
        }
        if !isWaiting { clock.cancel(timer) }
        return number
    }

    /// Cancels and drops a timer; does nothing for nil.
    private func forget(_ number: Int?) {
        guard let number else { return }
        let timer = state.withLock { $0?.waiting.removeValue(forKey: number) }
        if case let timer?? = timer { clock.cancel(timer) }
    }
}
