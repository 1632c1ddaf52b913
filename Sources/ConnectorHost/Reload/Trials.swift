// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorPlatform
internal import Synchronization

/// The trials of a host: each compares a successor with the instance before it, and ends with one of the two.
///
/// The calls of every connector that has a `trial` are counted in windows of that length, so that a successor can be
/// compared with its predecessor over at least as long a time.
final class Trials: Sendable {
    /// How many calls a successor must have received before they count.
    static let leastCalls: UInt64 = 10
    /// How many of them must have failed.
    static let leastFailures: UInt64 = 3
    /// How often during a trial the calls are compared.
    static let comparisons = 8

    /// How many calls there were, and how many have failed.
    struct Count: Sendable {
        var calls: UInt64 = 0
        var failures: UInt64 = 0

        /// The calls and failures since an earlier count.
        func since(_ earlier: Count) -> Count {
            Count(calls: calls - min(calls, earlier.calls), failures: failures - min(failures, earlier.failures))
        }

        /// Whether a larger share of the calls has failed than in another count.
        func failsMore(than other: Count) -> Bool {
            // Compares the 128-bit products, because a product of two counts may exceed 64 bits.
            let (own, others) = (
                failures.multipliedFullWidth(by: max(other.calls, 1)),
                other.failures.multipliedFullWidth(by: max(calls, 1))
            )
            return own.high == others.high ? own.low > others.low : own.high > others.high
        }
    }

    private struct Entry {
        var length: Duration
        /// The counts at the beginning of the last window and of the one before it.
        var last = Count()
        var earlier = Count()
        var window: HostTimer?
        var trial: Trial?

        var timers: [HostTimer] { [window, trial?.timer].compactMap(\.self) }
    }

    private struct Trial {
        var number: UInt64
        /// The calls of the predecessor in its last windows.
        var before: Count
        /// The count when the trial began.
        var start: Count
        var comparisons = 0
        var timer: HostTimer?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var number: UInt64 = 0
        var isClosed = false
    }

    private let current: CurrentTree
    private let clock: any HostClock
    private let state = Mutex(State())

    /// Starts without trials.
    init(_ current: CurrentTree, clock: any HostClock) {
        (self.current, self.clock) = (current, clock)
    }

    private func count(_ path: String) -> Count {
        guard let counters = current.tree[path]?.tally.counters else { return Count() }
        return Count(calls: counters.total, failures: counters.failures)
    }

    /// Counts the calls of the connectors that have a trial, and of no others.
    func follow(_ tree: Tree) {
        let lengths = tree.gates.reduce(into: [String: Duration]()) { lengths, gate in
            if let trial = gate.plan.trial { lengths[gate.path] = trial }
        }
        let added = state.withLock { state -> [String] in
            guard !state.isClosed else { return [] }
            for (path, entry) in state.entries
            where lengths[path] == nil || lengths[path] != entry.length && entry.trial == nil {
                for timer in entry.timers { clock.cancel(timer) }
                state.entries[path] = nil
            }
            let added = lengths.keys.filter { state.entries[$0] == nil }
            for path in added { state.entries[path] = Entry(length: lengths[path] ?? .zero) }
            return added
        }
        for path in added { beginWindow(path) }
        // Nothing else ends the trial of a gate that no longer has one.
        for gate in tree.gates where lengths[gate.path] == nil { gate.endTrial() }
    }

    private func beginWindow(_ path: String) {
        let count = count(path)
        state.withLock { state in
            guard !state.isClosed, var entry = state.entries[path] else { return }
            (entry.earlier, entry.last) = (entry.window == nil ? count : entry.last, count)
            entry.window = clock.schedule(after: entry.length.nanoseconds) { [weak self] in self?.beginWindow(path) }
            state.entries[path] = entry
        }
    }

    /// Begins the trial of a gate that has just switched to a successor.
    func begin(_ gate: Gate) {
        let path = gate.path
        let count = count(path)
        let number = state.withLock { state -> UInt64? in
            guard !state.isClosed, let entry = state.entries[path] else { return nil }
            if let timer = entry.trial?.timer { clock.cancel(timer) }
            state.number += 1
            state.entries[path]?.trial = Trial(
                number: state.number,
                before: count.since(entry.earlier),
                start: count
            )
            return state.number
        }
        guard let number else { return gate.endTrial() }
        wait(gate, number)
    }

    private func wait(_ gate: Gate, _ number: UInt64) {
        state.withLock { state in
            guard let entry = state.entries[gate.path], entry.trial?.number == number else { return }
            let step = max(1, entry.length.nanoseconds / UInt64(Self.comparisons))
            state.entries[gate.path]?.trial?.timer = clock.schedule(after: step) { [weak self, weak gate] in
                guard let self, let gate else { return }
                // The clock's thread must not be blocked by logging.
                gate.detach { self.compare($0, number) }
            }
        }
    }

    /// What a comparison says about a successor.
    private enum Decision {
        case goesOn
        case passes
        case fails(ConnectorError)
        /// Another trial has begun.
        case isOutdated
    }

    private func compare(_ gate: Gate, _ number: UInt64) {
        switch decision(on: gate, number) {
        case .goesOn: wait(gate, number)
        case .passes: gate.endTrial()
        case .fails(let error): gate.rollBack(error)
        case .isOutdated: break
        }
    }

    private func decision(on gate: Gate, _ number: UInt64) -> Decision {
        let count = count(gate.path)
        return state.withLock { state in
            guard var trial = state.entries[gate.path]?.trial, trial.number == number else { return .isOutdated }
            let calls = count.since(trial.start)
            trial.comparisons += 1
            let fails =
                calls.calls >= Self.leastCalls && calls.failures >= Self.leastFailures
                && calls.failsMore(than: trial.before)
            let isOver = fails || trial.comparisons >= Self.comparisons || !gate.isOnTrial
            state.entries[gate.path]?.trial = isOver ? nil : trial
            guard isOver else { return .goesOn }
            if fails { return .fails(Self.failed(gate.path, calls, trial.before)) }
            return gate.isUsable ? .passes : .fails(Self.unusable(gate))
        }
    }

    private static func unusable(_ gate: Gate) -> ConnectorError {
        ConnectorError(
            .failed,
            "the gate could not be used at the end of its trial; the earlier instance continues",
            fix: "see the gate's error; reload to try again",
            connector: gate.path,
            cause: gate.refusal.cause
        )
    }

    private static func failed(_ path: String, _ calls: Count, _ before: Count) -> ConnectorError {
        ConnectorError(
            .failed,
            "on trial, \(calls.failures) of \(calls.calls) calls failed, and \(before.failures) of \(before.calls) before; "
                + "the earlier instance continues",
            fix: "see the calls' errors; reload to try again",
            connector: path
        )
    }

    /// Cancels everything. Predecessors end with their gates.
    func close() {
        let timers = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries.values.flatMap(\.timers)
        }
        for timer in timers { clock.cancel(timer) }
    }
}
