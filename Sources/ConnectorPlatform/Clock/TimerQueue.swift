// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Timers in the order in which they fire, as a value without a clock.
///
/// A binary heap of deadlines, kept apart from the actions, so that cancelling costs one look-up. A cancelled timer's
/// heap entry is dropped when it surfaces, or when such entries outnumber the rest.
package struct TimerQueue: Sendable {
    /// The code that a timer runs.
    package typealias Action = @Sendable () -> Void

    /// One heap entry.
    private struct Entry: Sendable {
        let deadline: UInt64
        let order: UInt64
        let timer: HostTimer

        /// Timers with equal deadlines fire in the order of their creation.
        func precedes(_ other: Entry) -> Bool {
            deadline == other.deadline ? order < other.order : deadline < other.deadline
        }
    }

    /// A reusable slot for an action.
    private struct Slot: Sendable {
        var use: UInt32 = 0
        var action: Action?
    }

    private var heap: [Entry] = []
    /// Indexed by the lower 32 bits of a timer's number; the upper 32 bits count the slot's uses.
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var madeCount: UInt64 = 0

    /// Creates an empty queue.
    package init() {}

    /// The number of waiting timers.
    package var count: Int { slots.count - free.count }

    /// The number of waiting timers that are due at exactly this time.
    package func count(at deadline: UInt64) -> Int {
        heap.count { $0.deadline == deadline && slot(of: $0.timer) != nil }
    }

    /// Adds a timer.
    ///
    /// - Returns: The timer, and whether it is now the first to fire.
    package mutating func insert(at deadline: UInt64, _ action: @escaping Action) -> (timer: HostTimer, isFirst: Bool) {
        madeCount += 1
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(Slot()) }
        slots[index].use &+= 1
        slots[index].action = action
        let timer = HostTimer(rawValue: UInt64(slots[index].use) << 32 | UInt64(index))
        heap.append(Entry(deadline: deadline, order: madeCount, timer: timer))
        siftUp(heap.count - 1)
        return (timer, heap[0].order == madeCount)
    }

    /// Removes a timer and returns its action; nil if the timer is gone.
    package mutating func remove(_ timer: HostTimer) -> Action? {
        guard let action = take(timer) else { return nil }
        if heap.count > 64, heap.count / 2 > count {
            heap = heap.filter { slot(of: $0.timer) != nil }
            for index in heap.indices.prefix(heap.count / 2).reversed() { siftDown(index) }
        }
        return action
    }

    /// The slot of a waiting timer.
    private func slot(of timer: HostTimer) -> Int? {
        let index = Int(timer.rawValue & UInt64(UInt32.max))
        let isInUse = index < slots.count && slots[index].use == timer.rawValue >> 32 && slots[index].action != nil
        return isInUse ? index : nil
    }

    private mutating func take(_ timer: HostTimer) -> Action? {
        guard let index = slot(of: timer) else { return nil }
        free.append(index)
        return slots[index].action.take()
    }

    /// The deadline of the first timer.
    package mutating func nextDeadline() -> UInt64? {
        while let first = heap.first {
            if slot(of: first.timer) != nil { return first.deadline }
            dropFirst()
        }
        return nil
    }

    /// Removes the first timer if its deadline has passed.
    package mutating func popDue(at now: UInt64) -> (deadline: UInt64, action: Action)? {
        guard let deadline = nextDeadline(), deadline <= now else { return nil }
        let action = take(heap[0].timer)
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
