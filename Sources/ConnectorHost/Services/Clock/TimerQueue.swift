// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Timers in the order in which they fire: a value without a clock.
///
/// A binary heap of moments beside a dictionary of actions, so that cancelling costs one look-up; what is left of
/// cancelled timers in the heap is dropped when it surfaces, or when it outweighs the rest.
struct TimerQueue: Sendable {
    /// What a timer does.
    typealias Action = @Sendable () -> Void

    /// A place in the heap.
    private struct Entry: Sendable {
        let deadline: UInt64
        let id: Int

        /// Timers of one moment fire in the order they were made.
        func precedes(_ other: Entry) -> Bool {
            deadline == other.deadline ? id < other.id : deadline < other.deadline
        }
    }

    private var heap: [Entry] = []
    private var actions: [Int: Action] = [:]
    private var lastID = 0

    /// No timers.
    init() {}

    /// How many timers wait.
    var count: Int { actions.count }

    /// Adds a timer.
    ///
    /// - Returns: Its name, and whether it is now the first to fire.
    mutating func insert(at deadline: UInt64, _ action: @escaping Action) -> (timer: HostTimer, isFirst: Bool) {
        lastID += 1
        actions[lastID] = action
        heap.append(Entry(deadline: deadline, id: lastID))
        siftUp(heap.count - 1)
        return (HostTimer(rawValue: UInt64(lastID)), heap[0].id == lastID)
    }

    /// Takes a timer out; nil if it is not there any more.
    mutating func remove(_ timer: HostTimer) -> Action? {
        guard let action = actions.removeValue(forKey: Int(clamping: timer.rawValue)) else { return nil }
        if heap.count > 64, heap.count / 2 > actions.count {
            heap.removeAll { actions[$0.id] == nil }
            for index in heap.indices.prefix(heap.count / 2).reversed() { siftDown(index) }
        }
        return action
    }

    /// The moment of the first timer.
    mutating func nextDeadline() -> UInt64? {
        while let first = heap.first {
            if actions[first.id] != nil { return first.deadline }
            dropFirst()
        }
        return nil
    }

    /// Takes the first timer out if its moment has come.
    mutating func popDue(at now: UInt64) -> (deadline: UInt64, action: Action)? {
        guard let deadline = nextDeadline(), deadline <= now else { return nil }
        let action = actions.removeValue(forKey: heap[0].id)
        dropFirst()
        return action.map { (deadline, $0) }
    }

    // MARK: The heap

    private mutating func dropFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0, heap[index].precedes(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var first = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].precedes(heap[first]) {
                first = child
            }
            guard first != index else { return }
            heap.swapAt(index, first)
            index = first
        }
    }
}
