// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The active faults, and how often each may still apply.
final class FaultSchedule: Sendable {
    /// A fault and its remaining applications; `nil` for no limit.
    private struct Entry {
        var fault: Fault
        var left: Int?
        /// The text of the fault; `nil` if it was not created from text.
        var text: String?
        /// The number of a fault of a timeline, which only its timeline ends.
        var number: Int?
    }

    /// The faults in the given order; the first that matches applies.
    private let entries: Mutex<[Entry]>

    /// Activates `faults`.
    init(_ faults: [Fault]) {
        entries = Mutex(faults.map { Entry(fault: $0, left: $0.times) })
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

    /// The active faults that were created from text, and how often each may still apply; `nil` for no limit.
    var written: [(text: String, left: Int?)] {
        entries.withLock { entries in entries.compactMap { entry in entry.text.map { ($0, entry.left) } } }
    }

    /// Replaces the active faults by those of `texts`, all or none; counting starts again.
    func replace(withTexts texts: [String], vendors: [String]) throws(FaultError) {
        var read: [Entry] = []
        for text in texts {
            let fault = try Fault(text, vendors: vendors)
            read.append(Entry(fault: fault, left: fault.times, text: text))
        }
        entries.withLock { [read] in $0 = read + $0.filter { $0.number != nil } }
    }

    /// Replaces the active faults; counting starts again.
    func replace(with faults: [Fault]) {
        entries.withLock { entries in
            entries = faults.map { Entry(fault: $0, left: $0.times) } + entries.filter { $0.number != nil }
        }
    }

    /// Adds a fault of a timeline, after all others; one of the same number ends.
    func begin(_ fault: Fault, number: Int) {
        entries.withLock { entries in
            entries.removeAll { $0.number == number }
            entries.append(Entry(fault: fault, left: fault.times, number: number))
        }
    }

    /// Removes a fault of a timeline.
    func end(_ number: Int) {
        entries.withLock { $0.removeAll { $0.number == number } }
    }
}
