// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The active faults, and how often each may still apply.
final class FaultSchedule: Sendable {
    /// A fault, and how often it still applies; `nil` for no limit.
    private struct Entry {
        var fault: Fault
        var left: Int?
        /// The number of a timeline's fault, which only the timeline ends; `nil` for any other fault.
        var number: Int?

        /// Bounds what a fault made in Swift may have, as its text form does.
        init(_ fault: Fault, number: Int? = nil) {
            self.fault = fault
            self.fault.delay = min(fault.delay, Fault.longestDelay)
            left = fault.times.map { max(0, $0) }
            self.number = number
        }
    }

    /// The faults in the given order; the first that matches applies.
    private let entries: Mutex<[Entry]>

    /// Activates `faults`.
    init(_ faults: [Fault]) {
        entries = Mutex(faults.map { Entry($0) })
    }

    /// Returns the fault for a request, and counts its application.
    func next(for request: SimulatedRequest, of vendor: String) -> Fault? {
        entries.withLock { entries in
            for index in entries.indices {
                guard entries[index].left != 0, entries[index].fault.matches(request, of: vendor) else { continue }
                if let left = entries[index].left { entries[index].left = left - 1 }
                return entries[index].fault
            }
            return nil
        }
    }

    /// The faults that may still apply, except those of timelines, and how often; `nil` for no limit.
    var active: [(fault: Fault, left: Int?)] {
        entries.withLock { $0.filter { $0.number == nil && $0.left != 0 }.map { ($0.fault, $0.left) } }
    }

    /// Replaces the active faults, except those of timelines; counting starts again.
    func replace(with faults: [Fault]) {
        entries.withLock { entries in
            entries = faults.map { Entry($0) } + entries.filter { $0.number != nil }
        }
    }

    /// Adds a timeline's fault after all others; it replaces one with the same number.
    func begin(_ fault: Fault, number: Int) {
        entries.withLock { entries in
            entries.removeAll { $0.number == number }
            entries.append(Entry(fault, number: number))
        }
    }

    /// Removes a timeline's fault.
    func end(_ number: Int) {
        entries.withLock { $0.removeAll { $0.number == number } }
    }
}
