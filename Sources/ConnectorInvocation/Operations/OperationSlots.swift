// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The slots of an ``OperationTable``, with a free list.
///
/// Address space is reserved for all slots up front, so none ever moves, and a late plugin thread always finds the slot that an
/// id refers to. Only slots that were ever taken use memory.
///
/// `@unchecked Sendable`: the addresses are constant, and slots are safe to share.
@safe
package final class OperationSlots: @unchecked Sendable {
    /// The maximum number of slots.
    package let capacity: Int

    private let slots: UnsafeMutablePointer<OperationSlot>
    private let contents: UnsafeMutablePointer<OperationSlot.Content>
    /// For each free slot, the next free one.
    private let links: UnsafeMutablePointer<Atomic<UInt32>>
    /// The index of the first free slot plus one, or 0; the upper bits count changes, which avoids the ABA problem.
    private let head = Atomic<UInt64>(0)
    /// The number of slots ever taken.
    private let used = Atomic<Int>(0)
    private let growth = Mutex(())

    /// Reserves address space for the slots.
    package init(capacity: Int) {
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
        unsafe contents = .allocate(capacity: capacity)
        unsafe links = .allocate(capacity: capacity)
    }

    deinit {
        let count = used.load(ordering: .acquiring)
        unsafe slots.deinitialize(count: count)
        unsafe contents.deinitialize(count: count)
        unsafe links.deinitialize(count: count)
        unsafe slots.deallocate()
        unsafe contents.deallocate()
        unsafe links.deallocate()
    }

    /// The indices of all slots ever taken.
    package var indices: Range<Int> { 0..<used.load(ordering: .acquiring) }

    /// The slot at an index; nil if it was never taken.
    package func slot(at index: Int) -> UnsafeMutablePointer<OperationSlot>? {
        index < used.load(ordering: .acquiring) ? unsafe slots + index : nil
    }

    /// Takes a free slot; nil if there is none.
    package func take() -> (index: Int, slot: UnsafeMutablePointer<OperationSlot>)? {
        var known = head.load(ordering: .acquiring)
        while let index = Self.index(in: known) {
            let next = unsafe links[index].load(ordering: .relaxed)
            let new = ((known >> 32) + 1) << 32 | UInt64(next)
            let (isTaken, current) = head.weakCompareExchange(expected: known, desired: new, ordering: .acquiring)
            if isTaken { return unsafe (index, slots + index) }
            known = current
        }
        return unsafe takeNew()
    }

    /// Returns a slot to the free list.
    package func giveBack(_ index: Int) {
        var known = head.load(ordering: .relaxed)
        while true {
            unsafe links[index].store(UInt32(truncatingIfNeeded: known), ordering: .relaxed)
            let new = known & ~0xFFFF_FFFF | UInt64(index + 1)
            let (isFree, current) = head.weakCompareExchange(expected: known, desired: new, ordering: .releasing)
            if isFree { return }
            known = current
        }
    }

    private func takeNew() -> (index: Int, slot: UnsafeMutablePointer<OperationSlot>)? {
        unsafe growth.withLock { _ in
            let index = used.load(ordering: .relaxed)
            guard index < capacity else { return nil }
            unsafe (links + index).initialize(to: Atomic(0))
            unsafe (contents + index).initialize(to: OperationSlot.Content())
            unsafe (slots + index).initialize(to: OperationSlot(content: contents + index))
            used.store(index + 1, ordering: .releasing)
            return unsafe (index, slots + index)
        }
    }

    private static func index(in head: UInt64) -> Int? {
        let number = Int(truncatingIfNeeded: head & 0xFFFF_FFFF)
        return number == 0 ? nil : number - 1
    }
}
