// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The active faults, and how often each may still apply.
final class FaultSchedule: Sendable {
    /// A fault and its remaining applications; `nil` for no limit.
    private struct Entry {
        var fault: Fault
        var left: Int?
    }

    /// In the order they were given: the first that matches applies.
    private let entries: Mutex<[Entry]>

    /// Activates `faults`.
    init(_ faults: [Fault]) {
        entries = Mutex(faults.map { Entry(fault: $0, left: $0.times) })
    }

    /// Finds the fault for a request, and counts the application.
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

    /// Replaces the active faults; counting starts again.
    func replace(with faults: [Fault]) {
        entries.withLock { $0 = faults.map { Entry(fault: $0, left: $0.times) } }
    }
}
